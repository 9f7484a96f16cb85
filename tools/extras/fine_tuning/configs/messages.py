"""Makes messages.csv: short messages that are spam or not, in made sentences.

    python3 tools/extras/fine_tuning/configs/messages.py >tools/extras/fine_tuning/configs/messages.csv

Both kinds use the same names, days and most of the words that give spam away (free, win, call, offer, prize): what tells
them apart is how they are put together. No digits and no rare characters, and at most 64 of them, so that a model of
characters that was trained on configs/data/tinyshakespeare.txt can read on.
"""
import random

NAMES = "Anna Ben Clara David Emma Frank Grace Henry Ida Jack Karin Leo Mary Nora Oscar Paul Rosa Sam Tom Vera".split()
DAYS = "today,tonight,tomorrow,on Monday,on Friday,on Sunday,this week,next week,after work,at noon".split(",")
THINGS = "the book,the keys,the bread,my coat,the report,your bike,the tickets,the soup,the letter,the photos".split(",")
PLACES = "the station,the office,the cinema,my place,the park,the library,the bakery,school,the harbour,the gym".split(",")
GIFTS = "a phone,a cruise,a car,a watch,gold coins,a holiday,a laptop,cash,a voucher,a villa".split(",")
GOODS = "loans,pills,watches,insurance,tickets,crypto,diets,credit,casino chips,software".split(",")

HAM = [
    "{name}, are you free {day}?", "Can you bring {thing} {day}, {name}?", "I am at {place}, call me when you can",
    "Did you win the match {day}? {name} asked", "Lunch {day}? My offer to cook stands", "{name} left {thing} at {place}",
    "Sorry, I will be late {day}. See you at {place}", "Thanks for {thing}, {name}!", "Please reply when you have {thing}",
    "The prize for best cake goes to {name}!", "{name} and I will be at {place} {day}", "Do not forget {thing} {day}",
    "Is {place} open {day}? {name} wants to know", "Free tickets from {name}: want to come {day}?",
    "Call {name} about {thing}, it is urgent", "We won! {name} says hello from {place}", "Who has {thing}? {name} needs it {day}",
]
SPAM = [
    "{name}, you have won {gift}! Claim it {day}", "Free {goods}! Reply now and win {gift}", "Cheap {goods}, only {day}. Click here",
    "Urgent: call now to claim {gift}", "{name}, your prize is waiting: {gift}", "Best offer on {goods}, no fees. Act {day}",
    "Win {gift}! Send your bank details {day}", "Congratulations {name}! {gift} is yours, just call", "Last chance: {goods} for free {day}",
    "You were chosen for {gift}, {name}. Confirm now", "Click here for {goods} at half price {day}", "Your account wins {gift}. Log in {day}",
    "Hello {name}, claim cheap {goods} now", "Limited offer: {gift} for your reply {day}", "No cost, no risk: {goods} {day}, {name}!",
]


def main():
    draw = random.Random(7)
    seen = {}
    for label, forms in (("ham", HAM), ("spam", SPAM)):
        while sum(kind == label for kind in seen.values()) < 800:
            message = draw.choice(forms).format(name=draw.choice(NAMES), day=draw.choice(DAYS), thing=draw.choice(THINGS),
                                                place=draw.choice(PLACES), gift=draw.choice(GIFTS), goods=draw.choice(GOODS))
            if len(message) <= 64:
                seen.setdefault(message[0].upper() + message[1:], label)
    rows = list(seen.items())
    draw.shuffle(rows)
    print("message,label")
    for message, label in rows:
        print(f'"{message}",{label}' if "," in message else f"{message},{label}")


if __name__ == "__main__":
    main()

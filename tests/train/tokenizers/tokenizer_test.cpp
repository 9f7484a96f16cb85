#include "train/tokenizers/tokenizer.h"

#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "layers/text/utf8.h"
#include "tests/support/errors.h"

using namespace heed;
using heed::testing::message_of;

TEST_CASE("tokenizer: characters in the order of their code points") {
  const CharTokenizer tokenizer("hello\n wörld €😀");
  // \n, blank, d e h l o r w, ö, €, 😀
  CHECK(tokenizer.vocab_size() == 12);
  CHECK(tokenizer.encode("\n hö€😀") == std::vector<int32_t>{0, 1, 4, 9, 10, 11});
  CHECK(tokenizer.decode(std::vector<int32_t>{11, 10, 9, 0}) == "😀€ö\n");
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.name(0) == "\\n");
  CHECK(tokenizer.name(1) == "␣");
  CHECK(tokenizer.name(9) == "ö");
  CHECK_THROWS_AS(tokenizer.decode(std::vector<int32_t>{12}), ShapeError);
  CHECK_THROWS_AS(tokenizer.decode(std::vector<int32_t>{-1}), ShapeError);
}

TEST_CASE("tokenizer: a character the model never saw is named") {
  const CharTokenizer tokenizer("ab\n");
  CHECK(message_of<ConfigError>([&] { tokenizer.encode("aé"); }) ==
        "the character é (character 2 of the text) is not in the vocabulary: the model knows 3 "
        "characters: \\n a b");
  CHECK(message_of<ConfigError>([&] { tokenizer.encode("a\u00ad"); }).find("U+00AD") !=
        std::string::npos);
  CHECK(message_of<ConfigError>([&] { tokenizer.encode("ab\xff"); }) ==
        "the text is not UTF-8 at byte 2");
  std::string many;
  for (char32_t c = 0x400; c < 0x480; ++c) append_utf8(many, c);
  CHECK(message_of<ConfigError>([&] { CharTokenizer(many).encode("x"); }).ends_with("Ч ..."));
}

TEST_CASE("tokenizer: bytes") {
  const ByteTokenizer tokenizer;
  CHECK(tokenizer.vocab_size() == 256);
  CHECK(tokenizer.encode("aé") == std::vector<int32_t>{97, 0xC3, 0xA9});
  CHECK(tokenizer.name(97) == "a");
  CHECK(tokenizer.name(32) == "␣");
  CHECK(tokenizer.name(10) == "\\n");
  CHECK(tokenizer.name(7) == "\\x07");
  CHECK(tokenizer.name(0xC3) == "\\xC3");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(tokenizer.decode(tokenizer.encode(all)) == all);
  CHECK_THROWS_AS(tokenizer.decode(std::vector<int32_t>{256}), ShapeError);
}

TEST_CASE("tokenizer: every character there is goes out and comes back") {
  int64_t characters = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string text = to_utf8(code);
    const Utf8Character c = utf8_at(text, 0);
    REQUIRE(c.code == code);
    REQUIRE(c.size == text.size());
    ++characters;
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const Utf8Character part = utf8_at(std::string_view(text).substr(0, cut), 0);
      REQUIRE(part.size == 0);
      REQUIRE(part.cut);
    }
  }
  CHECK(characters == 0x110000 - 0x800);
}

TEST_CASE("tokenizer: what is not UTF-8 is found, with its byte and line") {
  CHECK_NOTHROW(check_utf8("", "x"));
  CHECK_NOTHROW(check_utf8("aé€😀", "x"));
  CHECK(message_of<IoError>([] { check_utf8("ab\ncd\xe9 e", "my.txt"); }) ==
        "my.txt: expected UTF-8, got the byte 0xE9 at byte 5, line 2; convert the file to UTF-8 "
        "(with iconv, for example)");
  CHECK(message_of<IoError>([] { check_utf8(std::string_view("a\0b\0", 4), "my.txt"); }) ==
        "my.txt: expected UTF-8, got the byte 0x00 at byte 1, line 1 (a file in UTF-16 has such "
        "bytes); convert the file to UTF-8 (with iconv, for example)");
  const std::string wrong[] = {
      "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xC3",
      "\xE0\x80\x80", "\xE2\x82",         "\xED\xA0\x80",     "\xF5\x80",
      "\xFF",         "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF0\x9F\x98",
      "\xC3(",        "\xE2\x82(",        "\xE2(\x82"};
  for (const std::string& text : wrong) {
    CHECK_THROWS_AS(check_utf8("ok " + text, "x"), IoError);
  }
}

TEST_CASE("composed: letters and marks are one character where there is one") {
  CHECK(composed("ae\u0301 \u1100\u1161") == "a\u00e9 \uac00");
  CHECK(composed("") == "");
  CHECK(composed("e\u0301\xFF") == "e\u0301\xFF");
}

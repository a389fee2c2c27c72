#include "CRE2.h"

#include <re2/re2.h>

struct re2_pattern {
    re2::RE2 compiled;
};

re2_pattern *re2_compile(const char *pattern, size_t length) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto *result = new re2_pattern{re2::RE2(re2::StringPiece(pattern, length), options)};
    if (result->compiled.ok()) return result;
    delete result;
    return nullptr;
}

void re2_free(re2_pattern *pattern) { delete pattern; }

bool re2_matches(const re2_pattern *pattern, const char *text, size_t length) {
    return re2::RE2::FullMatch(re2::StringPiece(text, length), pattern->compiled);
}

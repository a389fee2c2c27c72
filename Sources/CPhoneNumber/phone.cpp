#include "CPhoneNumber.h"

#include <cstring>
#include <string>

#include <phonenumbers/phonenumberutil.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

bool phone_knows_region(const char *region) {
    return PhoneNumberUtil::GetInstance()->GetCountryCodeForRegion(region) != 0;
}

// Reads a number of the region that is already in E.164 form: `+`, the country code, and digits of which the first is
// not zero. This is faster than the parser. Returns false for any other text.
static bool read_e164(const PhoneNumberUtil &util, const char *text, size_t length, const char *region, PhoneNumber *number) {
    const int code = util.GetCountryCodeForRegion(region);
    const std::string prefix = "+" + std::to_string(code);
    if (code == 0 || length <= prefix.size() || length > 16 || text[prefix.size()] == '0') return false;
    if (std::memcmp(text, prefix.data(), prefix.size()) != 0) return false;
    unsigned long long digits = 0;
    for (size_t index = prefix.size(); index < length; index++) {
        if (text[index] < '0' || text[index] > '9') return false;
        digits = digits * 10 + static_cast<unsigned>(text[index] - '0');
    }
    number->set_country_code(code);
    number->set_national_number(digits);
    return true;
}

bool phone_format_e164(const char *text, size_t length, const char *region, char e164[17]) {
    const PhoneNumberUtil &util = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    if (!read_e164(util, text, length, region, &number)) {
        if (util.Parse(std::string(text, length), region, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return false;
        if (number.has_extension()) return false;
    }
    switch (util.GetNumberType(number)) {
    case PhoneNumberUtil::MOBILE:
    case PhoneNumberUtil::FIXED_LINE:
    case PhoneNumberUtil::FIXED_LINE_OR_MOBILE:
        break;
    default:
        return false;
    }
    std::string formatted;
    util.Format(number, PhoneNumberUtil::E164, &formatted);
    if (formatted.size() > 16) return false;
    std::memcpy(e164, formatted.c_str(), formatted.size() + 1);
    return true;
}

bool phone_format_text(const char *e164, size_t length, const char *region, char *text, size_t capacity) {
    const PhoneNumberUtil &util = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    if (util.Parse(std::string(e164, length), "ZZ", &number) != PhoneNumberUtil::NO_PARSING_ERROR) return false;
    std::string formatted;
    // Regions that share a country code, such as the United States and Canada, also share the national format.
    const bool is_national = number.country_code() == util.GetCountryCodeForRegion(region);
    util.Format(number, is_national ? PhoneNumberUtil::NATIONAL : PhoneNumberUtil::INTERNATIONAL, &formatted);
    if (formatted.size() >= capacity) return false;
    std::memcpy(text, formatted.c_str(), formatted.size() + 1);
    return true;
}

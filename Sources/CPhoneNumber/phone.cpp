#include "CPhoneNumber.h"

#include <cstring>
#include <string>

#include <phonenumbers/phonenumberutil.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

bool phone_knows_region(const char *region) {
    return PhoneNumberUtil::GetInstance()->GetCountryCodeForRegion(region) != 0;
}

bool phone_format_e164(const char *text, size_t length, const char *region, char e164[17]) {
    const PhoneNumberUtil &util = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    if (util.Parse(std::string(text, length), region, &number) != PhoneNumberUtil::NO_PARSING_ERROR) return false;
    if (number.has_extension()) return false;
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

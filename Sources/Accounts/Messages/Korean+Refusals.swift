/// The messages about refused answers in Korean.
extension Korean {
    func message(for refusal: Refusal, about topic: RefusalTopic, label: String?) -> String {
        let min = refusal.number("min")
        let max = refusal.number("max")
        return switch refusal.code {
        case .required: required(topic, label)
        case .unknownField: "존재하지 않는 항목입니다."
        case .wrongType: "값의 종류가 올바르지 않습니다."
        case .tooShort: min.map { "\($0)자 이상 입력해 주세요." } ?? "더 길게 입력해 주세요."
        case .tooLong: max.map { "\($0)자 이하로 입력해 주세요." } ?? "더 짧게 입력해 주세요."
        case .badFormat: badFormat(topic, digits: refusal.number("digits"))
        case .badCharacters: badCharacters(topic)
        case .common: "유출되었거나 많이 사용되어 추측하기 쉬운 비밀번호입니다. 다른 비밀번호를 입력해 주세요."
        case .containsIdentifier: "이메일 주소, 아이디, 서비스 이름은 비밀번호로 사용할 수 없습니다."
        case .mismatch: "비밀번호가 일치하지 않습니다."
        case .taken: topic == .username ? "이미 사용 중인 아이디입니다." : "이미 사용 중입니다. 다른 값을 입력해 주세요."
        case .reserved: topic == .username ? "사용할 수 없는 아이디입니다." : "사용할 수 없습니다. 다른 값을 입력해 주세요."
        case .notAccepted: "계속하려면 동의해 주세요."
        case .notAllowed: notAllowed(topic, min, max)
        case .impossibleDate: "존재하지 않는 날짜입니다."
        case .inFuture: "오늘 이전의 날짜를 입력해 주세요."
        case .tooYoung: min.map { "만 \($0)세 이상만 가입할 수 있습니다." } ?? "가입할 수 있는 나이가 아닙니다."
        case .tooOld: "너무 오래된 날짜입니다. 연도를 확인해 주세요."
        case .passwordWrong: "비밀번호가 올바르지 않습니다."
        case .codeWrong where refusal.number("attempts_left") == 0:
            "인증 코드를 너무 많이 잘못 입력했습니다. 새 인증 코드를 받아 주세요."
        case .codeWrong: "인증 코드가 올바르지 않습니다.\(attemptsLeft(refusal))"
        case .codeExpired where topic == .link: "만료되었거나 이미 사용한 링크입니다."
        case .codeExpired: "인증 코드가 만료되었습니다. 새 인증 코드를 받아 주세요."
        case .codeExhausted where refusal.params["final"] == true:
            "인증 코드를 너무 많이 잘못 입력했습니다. 처음부터 다시 시작해 주세요."
        case .codeExhausted where refusal.params["new_secret"] == true:
            "인증 코드를 너무 많이 잘못 입력했습니다. 새 QR 코드로 인증 앱을 다시 등록해 주세요."
        case .codeExhausted: "인증 코드를 너무 많이 잘못 입력했습니다. 새 인증 코드를 받아 주세요."
        case .tooLarge: "사진이 너무 큽니다. 5MB, 4천만 화소 이하의 사진을 선택해 주세요."
        case .unsupportedImage: "움직이는 이미지는 사용할 수 없습니다. JPEG, PNG, WebP 파일을 선택해 주세요."
        }
    }

    private func required(_ topic: RefusalTopic, _ label: String?) -> String {
        switch topic {
        case .email: "이메일 주소를 입력해 주세요."
        case .phone, .internationalPhone: "전화번호를 입력해 주세요."
        case .username: "아이디를 입력해 주세요."
        case .password: "비밀번호를 입력해 주세요."
        case .confirmation: "비밀번호를 한 번 더 입력해 주세요."
        case .code, .authenticator, .secondFactor: "인증 코드를 입력해 주세요."
        case .identifier: "이메일 주소 또는 아이디를 입력해 주세요."
        case .date: "날짜를 입력해 주세요."
        case .number: "숫자를 입력해 주세요."
        case .choice: "항목을 선택해 주세요."
        case .photo: "사진을 선택해 주세요."
        case .consent: "계속하려면 동의해 주세요."
        case .link, .other: label.map { "필수 항목입니다: \($0)" } ?? "필수 항목입니다."
        }
    }

    private func badFormat(_ topic: RefusalTopic, digits: Int?) -> String {
        switch topic {
        case .email: "이메일 주소 형식이 올바르지 않습니다. (예: name@example.com)"
        case .phone: "전화번호 형식이 올바르지 않습니다. (예: 010-1234-5678)"
        case .internationalPhone: "전화번호 형식이 올바르지 않습니다. (예: +1 201-555-0123)"
        case .username: "영문자로 시작하고, . - _ 기호를 연달아 사용하지 마세요."
        case .date: "날짜 형식이 올바르지 않습니다. (예: 2001-02-28)"
        case .secondFactor: "인증 앱의 6자리 코드 또는 복구 코드를 입력해 주세요."
        case .link: "올바르지 않은 링크입니다. 이메일에 있는 링크 전체를 열어 주세요."
        case .code, .authenticator:
            digits.map { "숫자 \($0)자리를 입력해 주세요." } ?? "코드를 그대로 입력해 주세요."
        case .password, .confirmation, .identifier, .number, .choice, .photo, .consent, .other:
            "형식이 올바르지 않습니다. 다시 확인해 주세요."
        }
    }

    private func badCharacters(_ topic: RefusalTopic) -> String {
        switch topic {
        case .email: "이메일 주소 형식이 올바르지 않습니다. (예: name@example.com)"
        case .phone, .internationalPhone: "숫자, 띄어쓰기, + - ( ) . / 기호만 입력해 주세요."
        case .username: "영문자, 숫자, . - _ 기호만 입력해 주세요."
        default: "사용할 수 없는 문자가 있습니다. 지우고 다시 입력해 주세요."
        }
    }

    private func notAllowed(_ topic: RefusalTopic, _ min: Int?, _ max: Int?) -> String {
        if let min, let max { return "\(min) 이상 \(max) 이하의 정수를 입력해 주세요." }
        return topic == .choice ? "목록에 있는 항목을 선택해 주세요." : "사용할 수 없는 값입니다. 다른 값을 입력해 주세요."
    }

    func tooOften(_ wait: RoundedWait) -> String {
        let time =
            switch wait {
            case .seconds(let number): "\(number)초"
            case .minutes(let number): "\(number)분"
            case .hours(let number): "\(number)시간"
            }
        return "요청이 너무 많습니다. \(time) 후에 다시 시도해 주세요."
    }

    private func attemptsLeft(_ refusal: Refusal) -> String {
        refusal.number("attempts_left").map { " \($0)번 더 시도할 수 있습니다." } ?? ""
    }
}

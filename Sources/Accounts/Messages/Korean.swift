/// The texts in Korean. A name is never followed by a particle, because its form would depend on the last sound of the
/// name.
struct Korean: Messages {
    func message(for refusal: Refusal) -> String {
        let min = refusal.number("min")
        let max = refusal.number("max")
        return switch refusal.code {
        case .required: "필수 항목입니다."
        case .unknownField: "이 단계에 없는 항목입니다."
        case .wrongType: "이 항목에 맞지 않는 종류의 값입니다."
        case .tooShort: min.map { "\($0)자 이상 입력하세요." } ?? "더 길게 입력하세요."
        case .tooLong: max.map { "\($0)자 이하로 입력하세요." } ?? "더 짧게 입력하세요."
        case .badFormat: "형식을 확인하세요."
        case .badCharacters: "사용할 수 없는 문자를 지워 주세요."
        case .common: "많은 사람이 쓰거나 유출된 적이 있는 비밀번호라 추측하기 쉽습니다. 다른 비밀번호를 입력하세요."
        case .containsIdentifier: "이메일 주소, 사용자 이름, 서비스 이름은 비밀번호로 쓸 수 없습니다."
        case .mismatch: "서로 일치하지 않습니다."
        case .taken: "이미 사용 중입니다. 다른 것을 입력하세요."
        case .reserved: "사용할 수 없는 이름입니다. 다른 것을 입력하세요."
        case .notAccepted: "계속하려면 동의해 주세요."
        case .notAllowed:
            min.flatMap { min in max.map { "\(min) 이상 \($0) 이하의 정수를 입력하세요." } }
                ?? "여기에는 쓸 수 없는 값입니다. 다른 것을 고르세요."
        case .impossibleDate: "없는 날짜입니다."
        case .inFuture: "미래의 날짜입니다."
        case .tooYoung: min.map { "만 \($0)세 이상이어야 합니다." } ?? "가입할 수 있는 나이가 아닙니다."
        case .tooOld: "너무 오래된 날짜입니다. 연도를 확인하세요."
        case .passwordWrong: "비밀번호가 맞지 않습니다."
        case .codeWrong: "코드가 맞지 않습니다.\(attemptsLeft(refusal))"
        case .codeExpired: "만료된 코드입니다. 새 코드를 요청하세요."
        case .codeExhausted where refusal.params["final"] == true:
            "코드를 너무 많이 틀렸습니다. 가입을 처음부터 다시 시작하세요."
        case .codeExhausted where refusal.params["new_secret"] == true:
            "코드를 너무 많이 틀렸습니다. 새 비밀 키로 앱을 다시 설정하세요."
        case .codeExhausted: "코드를 너무 많이 틀렸습니다. 새 코드를 요청하세요."
        case .tooLarge: "사진이 너무 큽니다. 5MB, 4천만 화소 이하의 사진을 고르세요."
        case .unsupportedImage: "사용할 수 없는 사진입니다. 움직이지 않는 JPEG, PNG, WebP 사진을 고르세요."
        }
    }

    func title(of problem: ProblemKind) -> String {
        switch problem {
        case .malformedRequest: "요청의 형식이 올바르지 않습니다"
        case .noDraft: "진행 중인 가입이 없습니다"
        case .noSession: "로그인되어 있지 않습니다"
        case .confirmationRequired: "본인 확인이 필요합니다"
        case .factorRequired: "모든 계정에 필요한 항목입니다"
        case .signInFailed: "로그인 정보가 맞지 않습니다"
        case .codeRequired: "먼저 메일로 받은 코드를 입력해야 합니다"
        case .forbiddenOrigin: "다른 사이트에서 온 요청입니다"
        case .unknownStep: "없는 단계입니다"
        case .notFound: "찾을 수 없습니다"
        case .methodNotAllowed: "여기에는 쓸 수 없는 메서드입니다"
        case .notAcceptable: "요청한 형식으로 응답할 수 없습니다"
        case .stepLocked: "앞 단계를 먼저 마쳐야 합니다"
        case .incomplete: "가입이 아직 끝나지 않았습니다"
        case .alreadyCommitted: "가입이 이미 완료되었습니다"
        case .identifierTaken: "다른 계정에서 사용 중입니다"
        case .draftExpired: "가입이 종료되었습니다"
        case .staleRevision: "그사이 내용이 바뀌었습니다"
        case .tooLarge: "요청이 너무 큽니다"
        case .uriTooLong: "경로가 너무 깁니다"
        case .headersTooLarge: "헤더가 너무 큽니다"
        case .unsupportedMediaType: "지원하지 않는 형식입니다"
        case .validationFailed: "올바르지 않은 항목이 있습니다"
        case .rateLimited: "요청이 너무 많습니다"
        case .busy: "지금은 이용자가 많습니다"
        case .unavailable: "지금은 이용할 수 없습니다"
        case .internal: "오류가 발생했습니다"
        }
    }

    func text(of mail: CodeMail, _ code: String, minutes: Int, link: String?, serviceName: String) -> MailText {
        let (subject, request, assurance) =
            switch mail {
            case .signUp:
                (
                    "\(serviceName) 인증 코드", "\(serviceName) 가입을 계속하려면 아래 코드를 입력하세요.",
                    "코드 없이는 누구도 이 주소로 가입할 수 없습니다."
                )
            case .signIn:
                (
                    "\(serviceName) 로그인 코드", "\(serviceName)에 로그인하려면 아래 코드를 입력하세요.",
                    "코드 없이는 누구도 로그인할 수 없습니다."
                )
            case .recovery:
                (
                    "\(serviceName) 비밀번호 재설정 코드", "\(serviceName) 계정의 새 비밀번호를 정하려면 아래 코드를 입력하세요.",
                    "코드 없이는 누구도 비밀번호를 바꿀 수 없습니다."
                )
            case .emailChange:
                (
                    "\(serviceName) 새 주소 인증 코드", "\(serviceName) 계정에 이 주소를 쓰려면 아래 코드를 입력하세요.",
                    "코드 없이는 누구도 이 주소를 쓸 수 없습니다."
                )
            }
        let ticket = link.map { "\n\n코드를 쓸 수 없다면 다음 링크를 열어 새 코드를 받으세요.\n\n\($0)" } ?? ""
        return MailText(
            subject: subject,
            text: """
                안녕하세요.

                \(request)

                \(code)

                \(minutes)분 동안 쓸 수 있습니다. 다른 사람에게 알려 주지 마세요. 저희는 이 코드를 묻지 않습니다.

                요청하신 적이 없다면 아무것도 하지 않으셔도 됩니다. \(assurance)\
                \(ticket)
                """
        )
    }

    func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText {
        MailText(
            subject: "\(serviceName) 가입 이어서 하기",
            text: """
                안녕하세요.

                이 기기에서 \(serviceName) 가입을 계속하려면 다음 링크를 여세요.

                \(link)

                링크는 \(minutes)분 동안 한 번만 쓸 수 있습니다. 링크를 연 사람이 가입을 이어받고 이전 기기에서는 더 이상 진행할 수 \
                없으므로 다른 사람에게 알려 주지 마세요.

                페이지에서 코드를 물으면 다음 코드를 붙여 넣으세요.

                \(code)

                직접 요청하지 않았다면 링크를 열지 마세요. 그 밖에 하실 일은 없습니다.
                """
        )
    }

    func signUp(serviceName: String) -> String { "\(serviceName) 가입" }

    func continueTo(_ application: String) -> String { "\(application) 계속 이용하기" }

    func text(_ date: CivilDate) -> String { "\(date.year)년 \(date.month)월 \(date.day)일" }

    func text(_ word: Word) -> String {
        switch word {
        case .begin: "시작하기"
        case .next: "다음"
        case .back: "이전"
        case .cancel: "취소"
        case .skip: "건너뛰기"
        case .change: "변경"
        case .keep: "그대로 두고 계속하기"
        case .optional: "선택"
        case .language: "언어"
        case .steps: "단계"
        case .showPassword: "비밀번호 표시"
        case .hidePassword: "비밀번호 숨기기"
        case .confirmed: "확인됨"
        case .isSet: "설정됨"
        case .accepted: "동의함"
        case .notAccepted: "동의하지 않음"
        case .nothing: "없음"
        case .readText: "내용 보기"
        case .choose: "선택하세요"
        case .yourPicture: "내 사진"
        case .dropPicture: "사진을 여기로 끌어 놓거나 붙여 넣을 수도 있습니다."
        case .removePicture: "사진 지우기"
        case .badPicture: message(for: Refusal("image", .unsupportedImage))
        case .cropTitle: "사용할 부분 선택"
        case .cropText: "화살표 키를 누르거나, 사진을 끌거나, 가운데가 될 곳을 눌러 사진을 움직이세요."
        case .zoom: "크기"
        case .usePicture: "이대로 사용하기"
        case .codeSentTo: "다음 주소로 코드를 보냈습니다."
        case .sendAgain: "새 코드 받기"
        case .sendAgainIn: "{left}초 뒤에 새 코드 받기"
        case .codeGoodFor: "코드를 쓸 수 있는 시간: {left}"
        case .codeIsOver: "코드가 만료되었습니다. 새 코드를 요청하세요."
        case .openApp: "이 기기의 앱에서 열기"
        case .secretKey: "비밀 키"
        case .nextCodeIn: "{left}초 뒤에 다음 코드가 표시됩니다."
        case .recoveryTitle: "복구 코드"
        case .recoveryText: "앱을 쓸 수 없을 때 코드마다 한 번씩 로그인할 수 있습니다. 다시 표시되지 않으므로 안전한 곳에 보관하세요."
        case .copy: "복사"
        case .copied: "복사했습니다"
        case .download: "내려받기"
        case .print: "인쇄"
        case .keptThem: "보관했습니다"
        case .review: "입력한 내용 확인"
        case .reviewText: "모두 맞으면 계정을 만드세요."
        case .missing: "아직 입력하지 않은 항목이 있습니다."
        case .commit: "계정 만들기"
        case .done: "계정이 준비되었습니다"
        case .doneText: "가입이 끝났습니다. 이 페이지를 닫아도 됩니다."
        case .giveUp: "가입을 그만둘까요?"
        case .giveUpText: "입력한 내용이 모두 삭제됩니다."
        case .giveUpNow: "그만두기"
        case .goOn: "계속하기"
        case .handOff: "다른 기기에서 계속하기"
        case .handOffCode: "이메일에 있는 코드"
        case .handOffReplaces: "이 브라우저에 끝내지 않은 다른 가입이 있습니다. 여기에서 계속하면 그 가입으로 돌아갈 수 없습니다."
        case .handOffText: "이메일로 링크를 보내 드립니다. 링크를 연 기기에서 계속할 수 있습니다."
        case .handedOff: "링크를 보냈습니다"
        case .handedOffText: "다른 기기에서 메일을 여세요. 링크를 열기 전까지는 이 기기에서 계속할 수 있습니다."
        case .checkAnswers: "표시된 항목을 확인하세요."
        case .tryAgain: "지금은 처리하지 못했습니다. 저장된 내용은 그대로이니 잠시 뒤에 다시 시도하세요."
        case .tooOften: "너무 자주 시도했습니다. 나중에 다시 시도하세요."
        case .useTicket: "코드를 너무 많이 보냈거나 입력했습니다. 가장 최근에 받은 코드 메일의 링크를 열면 새 코드를 받을 수 있습니다."
        case .overdue: "가입이 만료되어 내용이 삭제되었습니다. 새로 시작할 수 있습니다."
        case .gaveUp: "가입을 그만두어 내용이 모두 삭제되었습니다."
        case .replacesSignup: "이 브라우저에서 진행 중인 다른 가입이 있습니다. 여기에서 계속하면 그 가입으로 돌아갈 수 없습니다."
        case .goneElsewhere: "다른 기기에서 가입을 계속하고 있습니다."
        case .committedElsewhere: "다른 가입에서 이 주소로 계정이 만들어졌습니다."
        case .accountErased: "이 가입으로 만든 계정이 삭제되었습니다."
        case .noSignup: "이 브라우저에서 진행 중인 가입이 없습니다. 방금 시작했다면 이 사이트의 쿠키를 허용하세요."
        case .offline: "연결되어 있지 않습니다. 입력한 내용은 그대로이니 다시 시도하세요."
        case .signIn: "로그인"
        case .signUp: "가입하기"
        case .noAccount: "아직 계정이 없으신가요?"
        case .haveAccount: "이미 계정이 있으신가요?"
        case .identifier: "이메일 또는 사용자 이름"
        case .password: "비밀번호"
        case .authenticator: "인증 앱"
        case .keepSignedIn: "이 기기에서 로그인 상태 유지"
        case .secondFactor: "한 단계만 더"
        case .secondFactorText: "인증 앱에 표시된 숫자 6자리를 입력하세요."
        case .code: "코드"
        case .useRecoveryCode: "복구 코드 사용하기"
        case .recoveryCode: "복구 코드"
        case .mailCodeTitle: "본인이 맞으신가요?"
        case .mailCodeText: "지금은 비밀번호만으로 이 기기에서 로그인할 수 없습니다. 본인인지 확인하기 위해 메일로 코드를 보내 드립니다."
        case .mailCode: "코드 받기"
        case .enterMailedCode: "메일을 확인하세요"
        case .enterMailedCodeText: "계정이 있다면 등록된 주소로 코드를 보냈습니다. 코드를 쓸 수 없다면 메일의 링크를 이용하세요."
        case .ticketTitle: "새 코드 받기"
        case .ticketText: "같은 주소로 코드를 다시 보내 드립니다. 요청이 너무 많았더라도 이 코드는 쓸 수 있습니다."
        case .forgotPassword: "비밀번호를 잊으셨나요?"
        case .recoverTitle: "새 비밀번호 정하기"
        case .recoverText: "계정의 이메일 주소로 코드를 보냅니다. 그 코드로 새 비밀번호를 정할 수 있습니다."
        case .yourAddress: "이메일 주소"
        case .codeOrRecoveryCode: "인증 앱의 코드 또는 복구 코드"
        case .secondFactorHelp: "인증 앱으로 보호되는 계정입니다. 앱에 표시된 숫자 6자리를 입력하세요."
        case .recoverReview: "모두 맞으면 새 비밀번호를 저장하세요. 모든 기기에서 로그아웃됩니다."
        case .recoverCommit: "새 비밀번호 저장"
        case .newAddress: "새 이메일 주소"
        case .emailChangeTitle: "이메일 주소 변경"
        case .emailChangeText: "새 주소로 코드를 보냅니다. 코드를 입력하면 계정의 주소가 바뀝니다."
        case .emailChangeReview: "모두 맞으면 주소를 변경하세요. 다른 모든 기기에서 로그아웃되며, 하루 동안 다시 변경하거나 탈퇴할 수 없습니다."
        case .emailChangeCommit: "주소 변경하기"
        case .addressChanged: "주소가 변경되었습니다. 다른 모든 기기에서 로그아웃되었습니다."
        case .undoTitle: "이전 주소로 되돌리기"
        case .undoText: "계정의 주소를 이전 주소로 되돌립니다. 모든 기기에서 로그아웃되고 새 비밀번호를 정하게 됩니다."
        case .undoDoneTitle: "주소가 되돌려졌습니다"
        case .undoDoneText: "모든 기기에서 로그아웃되었습니다. 지금 새 비밀번호를 정하세요."
        case .undoOver: "이미 사용했거나 만료된 링크입니다."
        case .address: "이메일 주소"
        case .otherGiveUp: "그만둘까요?"
        case .otherOverdue: "시간이 지나 입력한 내용이 삭제되었습니다. 다시 시작할 수 있습니다."
        case .otherGaveUp: "그만두었습니다. 바뀐 것은 없습니다."
        case .otherMissing: "이 브라우저에서 진행 중인 내용이 없습니다. 방금 시작했다면 이 사이트의 쿠키를 허용하세요."
        case .otherSuperseded: "그사이 계정이 바뀌었습니다. 다시 시작하세요."
        case .otherElsewhere: "다른 브라우저에서 이어지고 있습니다."
        case .otherReplaces: "이 브라우저에서 시작한 내용이 있습니다. 여기서 계속하면 되돌아갈 수 없습니다."
        case .save: "저장"
        case .saved: "저장했습니다."
        case .export: "내 데이터 내려받기"
        case .authenticatorHelp: "앱으로 코드를 스캔하거나 비밀 키를 입력한 다음, 앱에 표시된 숫자 6자리를 입력하세요."
        case .authenticatorIsSet: "인증 앱이 계정을 보호하고 있습니다."
        case .authenticatorIsRequired: "모든 계정에 인증 앱이 필요합니다. 계속하려면 인증 앱을 등록하세요."
        case .newRecoveryCodes: "새 복구 코드 받기"
        case .removeAuthenticator: "앱 해제하기"
        case .replaceAuthenticator: "앱 바꾸기"
        case .account: "내 계정"
        case .profile: "프로필"
        case .consents: "동의 내역"
        case .version: "버전"
        case .security: "보안"
        case .sessions: "로그인된 기기"
        case .thisDevice: "현재 기기"
        case .signOut: "로그아웃"
        case .signOutThere: "해당 기기 로그아웃"
        case .chooseAccount: "계정 선택"
        case .signInAnother: "다른 계정으로 로그인"
        case .signUpAnother: "다른 계정 만들기"
        case .signOutTitle: "로그아웃하시겠어요?"
        case .signOutText: "이 브라우저와, 이 브라우저에서 연 앱에서 모두 로그아웃돼요."
        case .signOutOthers: "다른 모든 기기에서 로그아웃"
        case .signedOut: "로그아웃되었습니다."
        case .changePassword: "비밀번호 변경"
        case .newPassword: "새 비밀번호"
        case .newPasswordAgain: "새 비밀번호 확인"
        case .changeEndsSessions: "다른 모든 기기에서 로그아웃됩니다."
        case .passwordChanged: "비밀번호가 변경되었습니다. 다른 모든 기기에서 로그아웃되었습니다."
        case .eraseAccount: "계정 삭제"
        case .eraseText: "계정의 모든 정보가 바로 삭제되며 되돌릴 수 없습니다."
        case .accountGone: "계정이 삭제되었습니다"
        case .accountGoneText: "계정의 모든 정보가 삭제되었고 모든 기기에서 로그아웃되었습니다. 언제든지 다시 가입할 수 있습니다."
        case .eraseNow: "지금 삭제"
        case .confirmTitle: "본인 확인"
        case .confirmText: "계속하려면 비밀번호를 입력하세요."
        case .signInByMail: "메일 코드로 로그인"
        case .deviceKnown: "확인되었습니다. 비밀번호를 다시 입력해 로그인하세요."
        case .ticketUsed: "만료되었거나 이미 사용한 링크입니다. 다시 로그인해 새 코드를 받으세요."
        case .newRecoveryCode: "새 복구 코드"
        case .newRecoveryCodeText: "방금 쓴 코드를 대신합니다. 다른 복구 코드는 그대로 쓸 수 있습니다. 다시 표시되지 않으니 안전한 곳에 보관하세요."
        case .startAgain: "다시 시작하기"
        case .setUpAgain: "다시 설정"
        case .removeIt: "인증 앱 삭제"
        }
    }

    func resume(_ address: String, serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 가입 이어서 하기",
            text: """
                이 기기에서 \(address) 가입을 계속할 수 있습니다. 다른 기기에서는 더 이상 진행할 수 없습니다. 본인의 주소이고 직접 시작한 가입일 \
                때만 계속하세요. 비밀번호를 이미 정했다면 다시 정해야 합니다.
                """,
            button: "여기에서 계속하기"
        )
    }

    func linkExpired(serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 가입 이어서 하기",
            text: "이미 사용했거나 만료된 링크입니다. 가입을 시작한 기기에서 새 링크를 요청하세요.",
            button: nil
        )
    }

    func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText {
        let use = purpose == .signup ? "이 브라우저에서 가입을 시작할" : "새 비밀번호를 정할"
        return PageText(
            title: "\(serviceName) 새 코드 받기",
            text: "\(address) 주소로 새 코드를 보냅니다. 코드를 받으면 \(use) 수 있습니다.",
            button: "코드 보내기"
        )
    }

    func ticketExpired(serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 새 코드 받기",
            text: "이미 사용했거나 만료된 링크입니다. 마지막으로 받은 메일의 링크를 열거나 다시 시작하세요.",
            button: nil
        )
    }

    func alreadyRegistered(serviceName: String, link: String) -> MailText {
        MailText(
            subject: "\(serviceName) 계정이 이미 있습니다",
            text: """
                안녕하세요.

                누군가 이 이메일 주소로 \(serviceName) 가입을 시도했습니다. 이미 계정이 있는 주소라 새 계정은 만들어지지 \
                않았습니다.

                직접 하셨다면 기존 계정으로 로그인하세요.

                \(link)

                직접 하지 않으셨다면 아무것도 하지 않으셔도 됩니다. 계정을 누가 보거나 바꾸지 않았습니다.
                """
        )
    }

    func accountChanged(_ notice: AccountNotice, serviceName: String, link: String) -> MailText {
        let (subject, change) =
            switch notice {
            case .passwordChanged: ("비밀번호 변경 안내", "계정의 비밀번호가 변경되었습니다.")
            case .addressChanged: ("새 주소 안내", "계정의 이메일 주소가 이 주소로 변경되었습니다.")
            case .addressRestored: ("주소 복원 안내", "계정의 이메일 주소가 이전 주소로 되돌려졌습니다.")
            case .authenticatorAdded: ("인증 앱 등록 안내", "계정에 인증 앱이 등록되었습니다.")
            case .authenticatorRemoved: ("인증 앱 해제 안내", "계정의 인증 앱이 해제되었습니다.")
            case .authenticatorRemovedByOperator:
                (
                    "요청에 따른 인증 앱 해제 안내",
                    """
                    인증 앱과 복구 코드를 잃어버렸다는 요청이 \(serviceName) 고객 지원에 접수되어, 계정에서 둘 다 해제되었습니다. \
                    모든 기기에서 로그아웃되었습니다. 메일로 받는 코드로 로그인한 뒤 인증 앱을 다시 등록해 주세요.
                    """
                )
            case .recoveryCodesReplaced: ("복구 코드 재발급 안내", "계정의 복구 코드가 새로 발급되었습니다.")
            case .recoveryCodeUsed: ("복구 코드 사용 안내", "인증 앱 대신 계정의 복구 코드가 사용되었습니다.")
            case .usernameChanged: ("사용자 이름 변경 안내", "계정의 사용자 이름이 변경되었습니다.")
            case .applicationSignedOut:
                (
                    "앱 로그아웃 안내",
                    """
                    앱의 로그인을 유지하는 키가 두 번 사용되어, 누군가 복사했을 수 있습니다. 해당 앱에서 로그아웃되었습니다.
                    """
                )
            case .accountErased: ("탈퇴 완료 안내", "계정과 계정의 모든 정보가 삭제되었습니다.")
            }
        let isErased = notice == .accountErased
        let others = !notice.endsOtherSessions ? "" : " 다른 모든 기기에서 로그아웃되었습니다."
        let remedy =
            isErased
            ? "본인이 아니라면 다른 사람이 비밀번호를 알고 있었다는 뜻입니다. 다른 곳의 비밀번호도 바꾸고 \(serviceName) 고객 지원에 알려 주세요."
            : "본인이 아니라면 다른 사람이 로그인할 수 있다는 뜻입니다. 지금 비밀번호를 바꾸고, 로그인할 수 없다면 \(serviceName) 고객 지원에 알려 주세요.\n\n\(link)"
        return MailText(
            subject: "\(serviceName) \(subject)",
            text: "안녕하세요.\n\n\(change)\(others)\n\n본인이 하셨다면 아무것도 하지 않으셔도 됩니다.\n\n\(remedy)"
        )
    }

    func addressLeft(serviceName: String, days: Int, link: String) -> MailText {
        MailText(
            subject: "\(serviceName) 주소 변경 안내",
            text: """
                안녕하세요.

                \(serviceName) 계정의 이메일 주소가 다른 주소로 변경되었습니다. 이 주소로는 더 이상 메일을 보내지 않습니다.

                본인이 하셨다면 아무것도 하지 않으셔도 됩니다.

                본인이 아니라면 다른 사람이 계정을 가져간 것입니다. 다음 링크를 열면 주소를 되돌릴 수 있습니다. 그러면 모든 \
                기기에서 로그아웃되고 새 비밀번호를 정하게 됩니다. 링크는 \(days)일 동안 쓸 수 있습니다.

                \(link)
                """
        )
    }

    func accountCreated(serviceName: String, address: String) -> MailText {
        MailText(
            subject: "\(serviceName) 가입을 환영합니다",
            text: """
                안녕하세요.

                \(serviceName) 계정이 준비되었습니다. 아래 주소의 계정입니다.

                \(address)

                직접 가입하지 않으셨다면 다른 사람이 메일을 읽고 있다는 뜻입니다. 지금 메일 계정의 비밀번호를 바꾸고 \
                \(serviceName) 고객 지원에 알려 주세요.
                """
        )
    }

    private func attemptsLeft(_ refusal: Refusal) -> String {
        refusal.number("attempts_left").map { " \($0)번 더 시도할 수 있습니다." } ?? ""
    }
}

/// The texts in Korean. A name is never followed by a particle, because its form would depend on the last sound of the
/// name.
struct Korean: Messages {
    func title(of problem: ProblemKind) -> String {
        switch problem {
        case .malformedRequest: "요청 형식이 올바르지 않습니다"
        case .noDraft: "진행 중인 가입이 없습니다"
        case .noSession: "로그인이 필요합니다"
        case .confirmationRequired: "본인 확인이 필요합니다"
        case .factorRequired: "해제할 수 없는 항목입니다"
        case .signInFailed: "로그인 정보가 올바르지 않습니다"
        case .codeRequired: "이메일 인증이 필요합니다"
        case .forbiddenOrigin: "다른 사이트에서 보낸 요청입니다"
        case .unknownStep: "존재하지 않는 페이지입니다"
        case .notFound: "페이지를 찾을 수 없습니다"
        case .methodNotAllowed: "여기에서는 할 수 없는 요청입니다"
        case .notAcceptable: "요청한 형식으로 응답할 수 없습니다"
        case .stepLocked: "이전 단계를 먼저 완료해 주세요"
        case .incomplete: "입력하지 않은 항목이 있습니다"
        case .alreadyCommitted: "이미 완료되었습니다"
        case .identifierTaken: "다른 계정에서 사용 중입니다"
        case .draftExpired: "종료된 가입입니다"
        case .staleRevision: "다른 창에서 내용이 변경되었습니다"
        case .tooLarge: "요청이 너무 큽니다"
        case .uriTooLong: "주소가 너무 깁니다"
        case .headersTooLarge: "헤더가 너무 큽니다"
        case .unsupportedMediaType: "지원하지 않는 형식입니다"
        case .validationFailed: "올바르지 않은 항목이 있습니다"
        case .rateLimited: "요청이 너무 많습니다"
        case .busy: "지금은 이용자가 많습니다"
        case .unavailable: "일시적으로 이용할 수 없습니다"
        case .internal: "오류가 발생했습니다"
        }
    }

    func text(of mail: CodeMail, _ code: String, minutes: Int, link: String?, serviceName: String) -> MailText {
        let (subject, request, assurance) =
            switch mail {
            case .signUp:
                (
                    "\(serviceName) 인증 코드", "\(serviceName) 가입을 계속하려면 아래 인증 코드를 입력해 주세요.",
                    "인증 코드가 없으면 아무도 이 이메일 주소로 가입할 수 없습니다."
                )
            case .signIn:
                (
                    "\(serviceName) 로그인 인증 코드", "\(serviceName) 로그인을 계속하려면 아래 인증 코드를 입력해 주세요.",
                    "인증 코드가 없으면 아무도 로그인할 수 없습니다."
                )
            case .recovery:
                (
                    "\(serviceName) 비밀번호 재설정 인증 코드", "\(serviceName) 비밀번호를 재설정하려면 아래 인증 코드를 입력해 주세요.",
                    "인증 코드가 없으면 아무도 비밀번호를 변경할 수 없습니다."
                )
            case .emailChange:
                (
                    "\(serviceName) 이메일 주소 변경 인증 코드", "\(serviceName) 계정의 이메일 주소를 변경하려면 아래 인증 코드를 입력해 주세요.",
                    "인증 코드가 없으면 아무도 이 이메일 주소를 사용할 수 없습니다."
                )
            }
        let ticket = link.map { "\n\n인증 코드를 사용할 수 없다면 다음 링크를 열어 새 인증 코드를 받아 주세요.\n\n\($0)" } ?? ""
        return MailText(
            subject: subject,
            text: """
                안녕하세요.

                \(request)

                \(code)

                인증 코드는 \(minutes)분 동안 사용할 수 있습니다. 다른 사람에게 알려 주지 마세요. 저희는 인증 코드를 절대 묻지 않습니다.

                본인이 요청하지 않았다면 이 이메일을 무시해 주세요. \(assurance)\
                \(ticket)
                """
        )
    }

    func handoff(_ link: String, code: String, minutes: Int, serviceName: String) -> MailText {
        MailText(
            subject: "\(serviceName) 가입 계속하기",
            text: """
                안녕하세요.

                이 기기에서 \(serviceName) 가입을 계속하려면 다음 링크를 열어 주세요.

                \(link)

                링크는 \(minutes)분 동안 한 번만 사용할 수 있습니다. 링크를 연 기기에서 가입이 이어지고 이전 기기에서는 계속할 수 \
                없으니, 다른 사람에게 알려 주지 마세요.

                페이지에서 코드를 입력하라고 하면 다음 코드를 붙여 넣어 주세요.

                \(code)

                본인이 요청하지 않았다면 이 이메일을 무시해 주세요.
                """
        )
    }

    func signUp(serviceName: String) -> String { "\(serviceName) 회원가입" }

    func continueTo(_ application: String) -> String { "\(application) 계속 이용하기" }

    func text(_ date: CivilDate) -> String { "\(date.year)년 \(date.month)월 \(date.day)일" }

    func text(_ word: Word) -> String {
        switch word {
        case .begin: "가입 시작하기"
        case .next: "다음"
        case .back: "이전"
        case .cancel: "취소"
        case .skip: "건너뛰기"
        case .change: "변경"
        case .keep: "현재 비밀번호 유지"
        case .optional: "선택"
        case .language: "언어"
        case .steps: "진행 단계"
        case .showPassword: "비밀번호 표시"
        case .hidePassword: "비밀번호 숨기기"
        case .confirmed: "인증 완료"
        case .isSet: "등록됨"
        case .accepted: "동의함"
        case .notAccepted: "동의하지 않음"
        case .nothing: "없음"
        case .readText: "내용 보기"
        case .choose: "선택해 주세요"
        case .yourPicture: "내 사진"
        case .dropPicture: "사진을 끌어다 놓거나 붙여 넣을 수도 있습니다."
        case .removePicture: "사진 삭제"
        case .badPicture: message(for: Refusal("image", .unsupportedImage))
        case .cropTitle: "사진 자르기"
        case .cropText: "사진을 끌거나, 화살표 키를 누르거나, 가운데가 될 곳을 눌러 위치를 조정해 주세요."
        case .zoom: "확대/축소"
        case .usePicture: "적용"
        case .codeSentTo: "다음 주소로 이메일을 보냈습니다."
        case .sendAgain: "인증 코드 재전송"
        case .sendAgainIn: "{left}초 후 재전송 가능"
        case .codeGoodFor: "남은 시간 {left}"
        case .codeIsOver: "인증 코드가 만료되었습니다. 새 인증 코드를 받아 주세요."
        case .codeSent: "새 인증 코드를 보냈습니다."
        case .codeUnderWay: "이 주소로 이미 이메일을 보냈습니다. {left}초 후에 다시 요청해 주세요."
        case .addressIsOther: "다른 창에서 이메일 주소가 변경되어 이전 인증 코드는 사용할 수 없습니다. 지금은 변경된 주소를 인증하는 페이지입니다."
        case .openApp: "인증 앱에서 열기"
        case .secretKey: "설정 키"
        case .nextCodeIn: "{left}초 후 새 코드가 표시됩니다."
        case .recoveryTitle: "복구 코드"
        case .recoveryText: "인증 앱을 사용할 수 없을 때 이 코드로 로그인할 수 있습니다. 코드마다 한 번만 사용할 수 있습니다. 다시 표시되지 않으니 안전한 곳에 보관해 주세요."
        case .copy: "복사"
        case .copied: "복사했습니다"
        case .download: "다운로드"
        case .print: "인쇄"
        case .keptThem: "안전하게 보관했습니다"
        case .review: "입력 내용 확인"
        case .reviewText: "입력한 내용을 확인해 주세요."
        case .missing: "아직 입력하지 않은 항목이 있습니다."
        case .commit: "가입하기"
        case .done: "가입이 완료되었습니다"
        case .doneText: "환영합니다! 바로 이용하거나 이 페이지를 닫아도 됩니다."
        case .giveUp: "가입을 취소할까요?"
        case .giveUpText: "입력한 내용이 모두 삭제됩니다."
        case .giveUpNow: "가입 취소"
        case .keepGoing: "계속하기"
        case .goOn: "계속"
        case .goToSignup: "회원가입으로 이동"
        case .handOff: "다른 기기에서 계속하기"
        case .handOffCode: "이메일로 받은 코드"
        case .handOffReplaces: "이 브라우저에 완료하지 않은 다른 가입이 있습니다. 여기에서 계속하면 그 가입으로 돌아갈 수 없습니다."
        case .handOffText: "이메일로 링크를 보내 드립니다. 다른 기기에서 링크를 열면 이어서 가입할 수 있습니다."
        case .handedOff: "이메일을 확인해 주세요"
        case .handedOffText: "다른 기기에서 이메일의 링크를 열어 주세요. 링크를 열기 전까지는 이 기기에서 계속할 수 있습니다."
        case .checkAnswers: "표시된 항목을 확인해 주세요."
        case .tryAgain: "오류가 발생했습니다. 입력한 내용은 저장되어 있으니 다시 시도해 주세요."
        case .tooOften: "요청이 너무 많습니다. 나중에 다시 시도해 주세요."
        case .useTicket: "인증 코드를 너무 많이 요청했거나 입력했습니다. 가장 최근에 받은 이메일의 링크를 열면 새 인증 코드를 받을 수 있습니다."
        case .overdue: "가입 시간이 만료되어 입력한 내용이 삭제되었습니다. 처음부터 다시 가입할 수 있습니다."
        case .gaveUp: "가입을 취소했습니다. 입력한 내용이 모두 삭제되었습니다."
        case .replacesSignup: "이 브라우저에 진행 중인 다른 가입이 있습니다. 여기에서 계속하면 그 가입으로 돌아갈 수 없습니다."
        case .goneElsewhere: "다른 기기에서 가입을 계속하고 있습니다."
        case .committedElsewhere: "그사이 이 이메일 주소로 가입이 완료되었습니다."
        case .accountErased: "이 가입으로 만든 계정이 삭제되었습니다."
        case .noSignup: "이 브라우저에서 진행 중인 가입을 찾을 수 없습니다. 방금 시작했다면 이 사이트의 쿠키를 허용해 주세요."
        case .offline: "인터넷에 연결되어 있지 않습니다. 입력한 내용은 그대로이니 연결한 후 다시 시도해 주세요."
        case .signIn: "로그인"
        case .signUp: "회원가입"
        case .noAccount: "아직 계정이 없으신가요?"
        case .haveAccount: "이미 계정이 있으신가요?"
        case .identifier: "이메일 주소 또는 아이디"
        case .password: "비밀번호"
        case .authenticator: "인증 앱"
        case .keepSignedIn: "이 기기에서 로그인 상태 유지"
        case .secondFactor: "인증 코드 입력"
        case .secondFactorText: "인증 앱에 표시된 6자리 숫자를 입력해 주세요."
        case .code: "인증 코드"
        case .useRecoveryCode: "복구 코드 사용하기"
        case .recoveryCode: "복구 코드"
        case .mailCodeTitle: "본인이 맞으신가요?"
        case .mailCodeText: "안전을 위해 이 기기에서는 비밀번호 외에 인증이 더 필요합니다. 본인 확인을 위해 이메일로 인증 코드를 보내 드립니다."
        case .mailCode: "인증 코드 받기"
        case .enterMailedCode: "이메일을 확인해 주세요"
        case .enterMailedCodeText: "가입된 계정이 있다면 이메일로 인증 코드를 보냈습니다. 인증 코드를 사용할 수 없다면 이메일의 링크를 이용해 주세요."
        case .forgotPassword: "비밀번호를 잊으셨나요?"
        case .recoverTitle: "비밀번호 재설정"
        case .recoverText: "이메일로 인증 코드를 보내 드립니다. 인증하면 새 비밀번호를 설정할 수 있습니다."
        case .yourAddress: "이메일 주소"
        case .codeOrRecoveryCode: "인증 앱의 코드 또는 복구 코드"
        case .secondFactorHelp: "인증 앱으로 보호되는 계정입니다. 앱에 표시된 6자리 숫자를 입력해 주세요."
        case .recoverReview: "비밀번호를 변경하면 모든 기기에서 로그아웃됩니다."
        case .recoverCommit: "비밀번호 재설정하기"
        case .newAddress: "새 이메일 주소"
        case .emailChangeTitle: "이메일 주소 변경"
        case .emailChangeText: "새 이메일 주소로 인증 코드를 보내 드립니다. 인증하면 이메일 주소가 변경됩니다."
        case .emailChangeReview: "변경하면 다른 모든 기기에서 로그아웃되며, 하루 동안 다시 변경하거나 계정을 삭제할 수 없습니다."
        case .emailChangeCommit: "이메일 주소 변경하기"
        case .addressChanged: "이메일 주소가 변경되었습니다. 다른 모든 기기에서 로그아웃되었습니다."
        case .undoTitle: "이전 이메일 주소로 되돌리기"
        case .undoText: "계정의 이메일 주소를 이전 주소로 되돌립니다. 모든 기기에서 로그아웃되며, 새 비밀번호를 설정해야 합니다."
        case .undoDoneTitle: "이메일 주소를 되돌렸습니다"
        case .undoDoneText: "모든 기기에서 로그아웃되었습니다. 지금 새 비밀번호를 설정해 주세요."
        case .undoOver: "만료되었거나 이미 사용한 링크입니다."
        case .address: "이메일 주소"
        case .otherGiveUp: "변경을 취소할까요?"
        case .otherGiveUpNow: "변경 취소"
        case .otherOverdue: "시간이 초과되어 입력한 내용이 삭제되었습니다. 처음부터 다시 시작해 주세요."
        case .otherGaveUp: "취소했습니다. 변경된 내용은 없습니다."
        case .otherMissing: "이 브라우저에서 진행 중인 내용을 찾을 수 없습니다. 방금 시작했다면 이 사이트의 쿠키를 허용해 주세요."
        case .otherSuperseded: "그사이 계정이 변경되었습니다. 처음부터 다시 시작해 주세요."
        case .otherElsewhere: "다른 브라우저에서 계속하고 있습니다."
        case .otherReplaces: "이 브라우저에서 이미 진행 중입니다. 여기에서 계속하면 이전 내용으로 돌아갈 수 없습니다."
        case .save: "저장"
        case .saved: "저장했습니다."
        case .export: "내 데이터 다운로드"
        case .authenticatorHelp: "인증 앱으로 QR 코드를 스캔하거나 설정 키를 입력한 다음, 앱에 표시된 6자리 숫자를 입력해 주세요."
        case .authenticatorIsSet: "인증 앱 등록 완료"
        case .newRecoveryCodes: "복구 코드 재발급"
        case .removeAuthenticator: "인증 앱 해제"
        case .replaceAuthenticator: "인증 앱 변경"
        case .authenticatorIsRequired: "이 서비스를 이용하려면 인증 앱이 필요합니다. 계속하려면 인증 앱을 등록해 주세요."
        case .account: "내 계정"
        case .profile: "프로필"
        case .consents: "동의 내역"
        case .version: "버전"
        case .security: "보안"
        case .isOn: "사용 중"
        case .isOff: "사용 안 함"
        case .sessions: "로그인된 기기"
        case .thisDevice: "현재 기기"
        case .signOut: "로그아웃"
        case .signOutThere: "해당 기기 로그아웃"
        case .chooseAccount: "계정 선택"
        case .signInAnother: "다른 계정으로 로그인"
        case .signUpAnother: "다른 계정 만들기"
        case .signOutTitle: "로그아웃할까요?"
        case .signOutText: "이 브라우저와 이 브라우저에서 연 앱에서 모두 로그아웃됩니다."
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
        case .accountGoneText: "모든 정보가 삭제되었고 모든 기기에서 로그아웃되었습니다. 언제든지 다시 가입할 수 있습니다."
        case .eraseNow: "계정 삭제하기"
        case .confirmTitle: "본인 확인"
        case .confirmText: "계속하려면 비밀번호를 입력해 주세요."
        case .signInByMail: "이메일 인증으로 로그인"
        case .deviceKnown: "확인되었습니다. 비밀번호를 다시 입력해 로그인해 주세요."
        case .ticketUsed: "만료되었거나 이미 사용한 링크입니다. 다시 로그인해 새 인증 코드를 받아 주세요."
        case .newRecoveryCode: "새 복구 코드"
        case .newRecoveryCodeText: "방금 사용한 코드를 대신하는 코드입니다. 다른 복구 코드는 그대로 사용할 수 있습니다. 다시 표시되지 않으니 안전한 곳에 보관해 주세요."
        case .startAgain: "다른 계정 만들기"
        case .notYou: "본인이 아니신가요?"
        case .startOver: "처음부터 시작하기"
        case .description: "몇 단계만 거치면 가입이 완료됩니다."
        case .ticketTitle: "인증 코드 다시 받기"
        case .ticketText: "같은 이메일 주소로 새 인증 코드를 보내 드립니다. 요청이 너무 많았더라도 이 코드는 사용할 수 있습니다."
        case .setUpAgain: "다시 등록하기"
        case .removeIt: "인증 앱 해제"
        case .pleaseWait: "잠시만 기다려 주세요…"
        case .errorInTitle: "오류:"
        case .completed: "완료"
        case .lengthOf: "{length} / {limit}자"
        case .goodPassword: "사용하기 좋은 비밀번호입니다"
        case .cropPlace: "가운데 위치: 왼쪽에서 {right}%, 위에서 {down}%"
        case .cannotCopy: "여기에서는 복사할 수 없습니다. 코드를 선택한 다음 직접 복사해 주세요."
        case .authenticatorMeaning: "인증 앱은 휴대전화나 컴퓨터에서 30초마다 새로운 코드를 표시합니다. 등록하면 로그인할 때 비밀번호와 함께 이 코드를 입력합니다."
        case .authenticatorIsOptional: "선택 사항이며 나중에 등록할 수도 있습니다."
        case .qrCode: "인증 앱 등록용 QR 코드"
        case .copyKey: "설정 키 복사"
        case .helpLink: "고객센터"
        case .termsLink: "이용약관"
        case .privacyLink: "개인정보처리방침"
        }
    }

    func resume(_ address: String, serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 가입 계속하기",
            text: """
                이 기기에서 \(address) 가입을 계속할 수 있습니다. 다른 기기에서는 더 이상 계속할 수 없습니다. 본인의 이메일 주소이고 직접 \
                시작한 가입일 때만 계속해 주세요. 이미 설정한 비밀번호는 다시 설정해야 합니다.
                """,
            button: "여기에서 계속하기"
        )
    }

    func linkExpired(serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 가입 계속하기",
            text: "만료되었거나 이미 사용한 링크입니다. 가입을 시작한 기기에서 새 링크를 요청해 주세요.",
            button: nil
        )
    }

    func ticket(_ address: String, for purpose: FlowPurpose, serviceName: String) -> PageText {
        let use = purpose == .signup ? "이 브라우저에서 가입할" : "새 비밀번호를 설정할"
        return PageText(
            title: "\(serviceName) 인증 코드 다시 받기",
            text: "\(address) 주소로 새 인증 코드를 보내 드립니다. 인증하면 \(use) 수 있습니다.",
            button: "인증 코드 받기"
        )
    }

    func ticketExpired(serviceName: String) -> PageText {
        PageText(
            title: "\(serviceName) 인증 코드 다시 받기",
            text: "만료되었거나 이미 사용한 링크입니다. 가장 최근에 받은 이메일의 링크를 열거나 처음부터 다시 시작해 주세요.",
            button: nil
        )
    }

    func alreadyRegistered(serviceName: String, link: String) -> MailText {
        MailText(
            subject: "이미 \(serviceName) 계정이 있습니다",
            text: """
                안녕하세요.

                이 이메일 주소로 \(serviceName) 가입 시도가 있었습니다. 이미 계정이 있어 새 계정을 만들지 않았습니다.

                본인이 시도했다면 기존 계정으로 로그인해 주세요.

                \(link)

                본인이 아니라면 이 이메일을 무시해 주세요. 계정이 조회되거나 변경되지 않았습니다.
                """
        )
    }

    func accountChanged(_ notice: AccountNotice, serviceName: String, link: String) -> MailText {
        let (subject, change) =
            switch notice {
            case .passwordChanged: ("비밀번호 변경 안내", "계정의 비밀번호가 변경되었습니다.")
            case .addressChanged: ("새 이메일 주소 안내", "계정의 이메일 주소가 이 주소로 변경되었습니다.")
            case .addressRestored: ("이메일 주소 복원 안내", "계정의 이메일 주소가 이전 주소로 복원되었습니다.")
            case .authenticatorAdded: ("인증 앱 등록 안내", "계정에 인증 앱이 등록되었습니다.")
            case .authenticatorRemoved: ("인증 앱 해제 안내", "계정의 인증 앱이 해제되었습니다.")
            case .authenticatorRemovedByOperator:
                (
                    "요청에 따른 인증 앱 해제 안내",
                    """
                    인증 앱과 복구 코드를 잃어버렸다는 요청이 \(serviceName) 고객센터에 접수되어, 계정에서 둘 다 해제했습니다. \
                    모든 기기에서 로그아웃되었습니다. 이메일로 받은 인증 코드로 로그인한 후 인증 앱을 다시 등록해 주세요.
                    """
                )
            case .recoveryCodesReplaced: ("복구 코드 재발급 안내", "계정의 복구 코드가 재발급되었습니다. 이전 코드는 더 이상 사용할 수 없습니다.")
            case .recoveryCodeUsed: ("복구 코드 사용 안내", "인증 앱 대신 계정의 복구 코드가 사용되었습니다.")
            case .usernameChanged: ("아이디 변경 안내", "계정의 아이디가 변경되었습니다.")
            case .applicationSignedOut:
                (
                    "앱 로그아웃 안내",
                    """
                    앱의 로그인을 유지하는 키가 두 번 사용되어, 다른 사람이 복사했을 수 있습니다. 안전을 위해 해당 앱에서 로그아웃했습니다.
                    """
                )
            case .accountErased: ("계정 삭제 완료 안내", "계정과 계정의 모든 정보가 삭제되었습니다.")
            }
        let isErased = notice == .accountErased
        let others = !notice.endsOtherSessions ? "" : " 다른 모든 기기에서 로그아웃되었습니다."
        let remedy =
            isErased
            ? "본인이 아니라면 다른 사람이 로그인했을 수 있습니다. 같은 비밀번호를 사용하는 다른 서비스의 비밀번호도 변경하고 \(serviceName) 고객센터에 문의해 주세요."
            : "본인이 아니라면 다른 사람이 로그인할 수 있습니다. 지금 비밀번호를 변경하고, 로그인할 수 없다면 \(serviceName) 고객센터에 문의해 주세요.\n\n\(link)"
        return MailText(
            subject: "\(serviceName) \(subject)",
            text: "안녕하세요.\n\n\(change)\(others)\n\n본인이 변경했다면 별도로 조치하지 않아도 됩니다.\n\n\(remedy)"
        )
    }

    func addressLeft(serviceName: String, days: Int, link: String) -> MailText {
        MailText(
            subject: "\(serviceName) 이메일 주소 변경 안내",
            text: """
                안녕하세요.

                \(serviceName) 계정의 이메일 주소가 다른 주소로 변경되었습니다. 이 주소로는 더 이상 이메일을 보내지 않습니다.

                본인이 변경했다면 별도로 조치하지 않아도 됩니다.

                본인이 아니라면 다른 사람이 계정을 도용한 것입니다. 다음 링크를 열면 이메일 주소를 되돌릴 수 있습니다. 모든 \
                기기에서 로그아웃되며, 새 비밀번호를 설정해야 합니다. 링크는 \(days)일 동안 사용할 수 있습니다.

                \(link)
                """
        )
    }

    func accountCreated(serviceName: String, address: String) -> MailText {
        MailText(
            subject: "\(serviceName) 가입을 환영합니다",
            text: """
                안녕하세요.

                \(serviceName) 가입이 완료되었습니다. 가입한 이메일 주소는 다음과 같습니다.

                \(address)

                본인이 가입하지 않았다면 다른 사람이 이메일을 읽고 있을 수 있습니다. 지금 이메일 계정의 비밀번호를 변경하고 \
                \(serviceName) 고객센터에 문의해 주세요.
                """
        )
    }
}

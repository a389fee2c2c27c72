import Accounts

/// The body of a request that signs in or changes an account. Each `mutating` function reads a member, and collects a
/// refusal if the member is invalid. Each except ``flag(_:)`` also collects a refusal if the member is missing.
struct SignInBody {
    private let body: Answers
    private(set) var refusals: [Refusal]
    let isBearer: Bool
    /// The device token of a client without cookies; nil if it is missing or malformed.
    let device: DeviceToken?

    /// - Parameter members: the names that the body may have in addition to `transport` and `device`.
    init(_ body: Answers, members: Set<FieldName>) {
        let transport = TokenTransport(body, otherMembers: members.union(["device"]))
        self.body = body
        (refusals, isBearer) = (transport.refusals, transport.isBearer)
        device = body["device"]?.json?.string.flatMap { DeviceToken($0) }
    }

    func has(_ member: FieldName) -> Bool { body[member] != nil }

    mutating func text(_ member: FieldName, upTo length: Int = 1024) -> String? {
        guard let answer = body[member], !answer.isBlank else {
            refusals.append(Refusal(member, .required))
            return nil
        }
        guard let text = answer.json?.string else {
            refusals.append(Refusal(member, .wrongType, ["expected": "string"]))
            return nil
        }
        guard text.utf8.count <= length else {
            refusals.append(Refusal(member, .tooLong, ["max": .integer(length)]))
            return nil
        }
        return text
    }

    mutating func secret(_ member: FieldName) -> SharedSecret? {
        guard let answer = body[member], !answer.isBlank else {
            refusals.append(Refusal(member, .required))
            return nil
        }
        guard case .secret(let typed) = answer else {
            refusals.append(Refusal(member, .wrongType, ["expected": "string"]))
            return nil
        }
        do throws(Refusal) { return try PasswordRules().canonical(typed, field: member) } catch {
            refusals.append(error)
            return nil
        }
    }

    /// The code in a member: `count` digits, between which the person may type spaces.
    mutating func digits(_ member: FieldName, _ count: Int) -> String? {
        guard let text = text(member) else { return nil }
        guard let digits = text.digits(count) else {
            refusals.append(Refusal(member, .badFormat, ["digits": .integer(count)]))
            return nil
        }
        return digits
    }

    mutating func recoveryCode(_ member: FieldName) -> RecoveryCode? {
        guard let text = text(member) else { return nil }
        let code = RecoveryCode(text)
        if code == nil { refusals.append(Refusal(member, .badFormat)) }
        return code
    }

    mutating func ticket(_ member: FieldName) -> Ticket? {
        guard let text = text(member) else { return nil }
        let ticket = Ticket(text)
        if ticket == nil { refusals.append(Refusal(member, .badFormat)) }
        return ticket
    }

    /// The value of a checkbox in a form, or of a Boolean in JSON; false if the member is missing or empty.
    mutating func flag(_ member: FieldName) -> Bool {
        switch body[member]?.json {
        case .bool(let flag)?: return flag
        case nil, .null?, .string("")?, .string("false")?: return false
        case .string("true")?, .string("on")?: return true
        default:
            refusals.append(Refusal(member, .wrongType, ["expected": "boolean"]))
            return false
        }
    }

    /// Returns the value. Throws a problem if a member was refused.
    ///
    /// - Parameter value: what one of the `mutating` functions has returned; nil only if a member was refused.
    func checked<Value>(_ value: Value?, in language: Language) throws -> Value {
        guard refusals.isEmpty, let value else { throw Problem.refused(refusals, in: language) }
        return value
    }
}

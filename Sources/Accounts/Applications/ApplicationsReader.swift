internal import Yams

extension Applications {
    /// The maximum number of applications in a file.
    package static let maximum = 1000

    /// Reads the text of an applications file. Throws one error with all mistakes that it finds.
    ///
    /// - Parameters:
    ///   - file: the path of the file, for errors. Relative paths of secret files start at the folder of this file.
    ///   - flow: the flow whose fields the claims name.
    ///   - publicURL: the URL of this service. If it begins with `http://`, applications may use `http://localhost`.
    ///   - secretFile: reads the file with secrets at a path.
    package static func parse(
        _ yaml: String,
        file: String,
        flow: Flow,
        publicURL: String,
        secretFile: @escaping (String) throws(SecretFile.Unreadable) -> SecretFile = SecretFile.init(contentsOf:)
    ) throws(ApplicationsFileError) -> Applications {
        var reader = ApplicationsReader(file: file, flow: flow, publicURL: publicURL, secretFile: secretFile)
        guard let applications = reader.read(yaml) else {
            let mistakes = reader.mistakes.map { $0.within(yaml) }
            throw ApplicationsFileError(mistakes: mistakes.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
        return applications
    }
}

/// Reads an applications file, and collects its mistakes and warnings.
struct ApplicationsReader {
    let file: String
    let flow: Flow
    let uriRules: ApplicationURIRules
    let secretFile: (String) throws(SecretFile.Unreadable) -> SecretFile
    private(set) var mistakes: [YAMLFileError] = []
    private(set) var warnings: [YAMLFileError] = []

    init(
        file: String,
        flow: Flow,
        publicURL: String,
        secretFile: @escaping (String) throws(SecretFile.Unreadable) -> SecretFile
    ) {
        (self.file, self.flow, self.secretFile) = (file, flow, secretFile)
        uriRules = ApplicationURIRules(allowsLocalhost: publicURL.hasPrefix("http://"))
    }

    /// Returns nil if there are mistakes.
    mutating func read(_ yaml: String) -> Applications? {
        let name = file
        guard var entry = attempt({ () throws(YAMLFileError) in try YAMLEntry(yaml: yaml, file: name) }) else {
            return nil
        }
        let audience = items("issuer_audience", in: &entry, upTo: 100).map(\.text)
        var applications: [Application] = []
        var ids: Set<String> = []
        for var registration in entries(in: &entry) {
            guard let application = application(&registration, &ids) else { continue }
            applications.append(application)
        }
        mistakes += entry.unknownKeys
        guard mistakes.isEmpty else { return nil }
        return Applications(all: applications, issuerAudience: audience, warnings: warnings)
    }

    private mutating func entries(in entry: inout YAMLEntry) -> [YAMLEntry] {
        guard let nodes = entry.node("applications")?.sequence, nodes.count <= Applications.maximum else {
            let reason = "\"applications\" must be a list with at most \(Applications.maximum) entries"
            mistakes.append(entry.error(reason, at: "applications"))
            return []
        }
        let (name, flow) = (file, flow)
        return nodes.compactMap { node in
            attempt { () throws(YAMLFileError) in
                try YAMLEntry(
                    node,
                    file: name,
                    requiring: flow.languages,
                    among: flow.knownLanguages
                )
            }
        }
    }

    /// Returns nil if the entry has mistakes.
    private mutating func application(_ entry: inout YAMLEntry, _ ids: inout Set<String>) -> Application? {
        let earlierMistakes = mistakes.count
        let id = id(of: &entry, &ids)
        let names = attempt { () throws(YAMLFileError) in try entry.texts("name") }
        let secrets = clientSecrets(in: &entry)
        let redirectURIs = redirectURIs(in: &entry, allowsAppScheme: secrets == nil)
        let logoutURIs = uris("post_logout_redirect_uris", in: &entry, allowsAppScheme: secrets == nil)
        let (login, logout) = (uri("initiate_login_uri", in: &entry), uri("backchannel_logout_uri", in: &entry))
        let fields = claims(in: &entry)
        let algorithm = algorithm(in: &entry)
        let webhook = webhook(in: &entry)
        mistakes += entry.unknownKeys
        guard mistakes.count == earlierMistakes, let id, let names else { return nil }
        return Application(
            id: id,
            redirectURIs: redirectURIs,
            postLogoutRedirectURIs: logoutURIs,
            initiateLoginURI: login,
            backchannelLogoutURI: logout,
            webhook: webhook,
            signingAlgorithm: algorithm,
            names: names,
            fields: fields,
            secretDigests: secrets ?? []
        )
    }

    private mutating func id(of entry: inout YAMLEntry, _ ids: inout Set<String>) -> String? {
        guard let id = attempt({ () throws(YAMLFileError) in try entry.text("id") }) else { return nil }
        guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy(Self.isIDCharacter) else {
            mistakes.append(entry.error("invalid id \"\(id)\": use 1 to 64 characters of a-z, 0-9 and -", at: "id"))
            return nil
        }
        guard ids.insert(id).inserted else {
            mistakes.append(entry.error("an application with the id \"\(id)\" already exists", at: "id"))
            return nil
        }
        return id
    }

    private static func isIDCharacter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }

    private mutating func algorithm(in entry: inout YAMLEntry) -> SigningAlgorithm {
        let names = SigningAlgorithm.allCases.map(\.rawValue)
        let name = attempt { () throws(YAMLFileError) in try entry.word("id_token_signing_alg", among: names) }
        return name?.flatMap { SigningAlgorithm(rawValue: $0) } ?? .es256
    }

    // MARK: Collecting

    /// Returns the result of `body`. If it throws, collects the mistake and returns nil.
    mutating func attempt<Value>(_ body: () throws(YAMLFileError) -> Value) -> Value? {
        do throws(YAMLFileError) {
            return try body()
        } catch {
            mistakes.append(error)
            return nil
        }
    }

    mutating func collect(_ mistake: YAMLFileError) { mistakes.append(mistake) }

    mutating func warn(_ warning: YAMLFileError) { warnings.append(warning) }

    /// The items of a list; none if the list is missing or has a mistake.
    mutating func items(_ key: String, in entry: inout YAMLEntry, upTo maximum: Int) -> [YAMLItem] {
        (attempt { () throws(YAMLFileError) in try entry.items(key, upTo: maximum) } ?? nil) ?? []
    }
}

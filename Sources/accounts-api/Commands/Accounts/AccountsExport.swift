import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the data of an account as JSON, without secrets.",
            discussion: """
                The person gets the same data from GET /account/export. The values are not masked. Writes an audit \
                record.

                EXAMPLES
                  accounts-api accounts export kim@example.com >account.json
                  accounts-api accounts export kim@example.com --photos photos >account.json
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Option(
            help: "Writes each photo to a file in this folder, which is created if it does not exist.",
            completion: .directory
        )
        var photos: String?
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let export = try await flags.withOperator(writesAudit: true) { admin in
                let id = try await account.find(by: admin)
                guard let export = try await admin.export(id, withImages: photos != nil) else {
                    throw account.notFound
                }
                return export
            }
            if let photos { try Self.write(export.photos, to: photos) }
            print(export.json().text)
        }

        /// Writes files that only their owner can read. Throws if one of them exists already.
        private static func write(_ photos: [PhotoEntry], to folder: String) throws {
            do {
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700]
                )
            } catch {
                throw Refused(description: "cannot create the folder \(folder.printable)")
            }
            for photo in photos {
                let path = "\(folder)/\(photo.field).\(photo.fileExtension)"
                let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                guard file >= 0 else {
                    throw Refused(description: "cannot create \(path.printable): \(String(cString: strerror(errno)))")
                }
                try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: photo.image ?? [])
            }
        }
    }
}

extension PhotoEntry {
    fileprivate var fileExtension: String {
        switch type {
        case "image/jpeg": "jpg"
        case "image/png": "png"
        case "image/webp": "webp"
        default: "bin"
        }
    }
}

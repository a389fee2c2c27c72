/// Why there is no photo.
package enum ImageError: Error, Hashable, Sendable {
    case unserved(Unserved)
    case fault(ImageFault)
    /// The system gave no process, or one that did not do as it should.
    case noWorker
}

/// Makes photos of images: each in a process of its own (``ImageWorker``), so many at once, and a bounded queue before them.
///
/// An image that takes too much time or memory ends its process, and is refused like any other that is none.
package final class ImagePool: Sendable {
    private let pool: WorkPool<ImageProcess>

    /// - Parameters:
    ///   - program: the path of what is started, which calls ``ImageWorker/run()`` when it gets these arguments.
    ///   - workers: how many processes there may be at once; each may take ``ImageWorker/mostMemory``.
    ///   - queue: how many images may wait.
    package init(
        program: String,
        arguments: [String] = ["image-worker"],
        workers: Int = 1,
        queue: Int = 16,
        meters: Meters = Meters()
    ) {
        pool = WorkPool(
            named: "image",
            (0..<workers).map { _ in ImageProcess(program: program, arguments: arguments) },
            queue: queue,
            patience: .seconds(60),
            priority: .normal,
            finished: { meters.images.record($0) },
            refused: {}
        )
    }

    /// Of no use, for who never sees an image.
    package static let none = ImagePool(program: "", workers: 0, queue: 0)

    /// Throws `busy` at once if there is no room to wait. A process that has begun goes on to its end.
    package func photo(of image: [UInt8]) async throws(ImageError) -> Photo {
        let result: Result<Photo, ImageError>
        do throws(Unserved) {
            result = try await pool.run { process in
                do throws(ImageError) { return .success(try process.photo(of: image)) } catch { return .failure(error) }
            }
        } catch {
            throw .unserved(error)
        }
        return try result.get()
    }

    /// Refuses those who wait, and blocks until the process that runs has ended.
    package func shutdown() { pool.shutdown() }
}

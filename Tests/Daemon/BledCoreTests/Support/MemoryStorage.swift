import Adapter
import BledCore
import Bluetooth

/// Files in memory: each takes ten milliseconds of virtual time to be written.
final class MemoryStorage: DocumentStorage {
  var files: [String: [UInt8]] = [:]
  /// The reason why nothing can be written; nil for none.
  var problem: StoreError?
  /// The reason why nothing can be read; nil for none.
  var readProblem: StoreError?
  /// The reason why no file can be set aside; nil for none.
  var setAsideProblem: StoreError?
  private(set) var writes: [String] = []
  private let scheduler: any Scheduler

  init(scheduler: any Scheduler) { self.scheduler = scheduler }

  func read(_ name: String) throws(StoreError) -> [UInt8]? {
    if let readProblem { throw readProblem }
    return files[name]
  }

  func setAside(_ name: String) throws(StoreError) -> String {
    if let setAsideProblem { throw setAsideProblem }
    files["\(name).damaged"] = files.removeValue(forKey: name)
    return "\(name).damaged"
  }

  func write(
    _ name: String, _ encode: @escaping @Sendable () throws -> EncodedDocument,
    _ done: @escaping (Result<[String], any Error>) -> Void
  ) {
    writes.append(name)
    scheduler.schedule(after: .milliseconds(10)) { [self] in
      if let problem { return done(.failure(problem)) }
      done(
        Result {
          let document = try encode()
          files[name] = document.octets
          return document.remarks
        })
    }
  }
}

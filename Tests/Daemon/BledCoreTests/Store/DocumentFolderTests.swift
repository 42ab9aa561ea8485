import BledCore
import EventLoop
import FoundationEssentials
import Glibc
import Testing

/// Documents in a real directory, written by a real thread.
@Suite final class DocumentFolderTests {
  private let loop: EventLoop
  private let worker: Worker
  private let path: String

  init() throws {
    var template = Array("/tmp/bled-store-XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    loop = try EventLoop()
    worker = Worker(loop: loop)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Opens the folder for a moment.
  private func withFolder<Result>(_ body: (DocumentFolder) throws -> Result) throws -> Result {
    try body(DocumentFolder(path: "\(path)/state", worker: worker))
  }

  private func write(_ name: String, _ octets: [UInt8]) throws {
    var outcome: Result<[String], any Error>?
    try withFolder { folder in
      folder.write(name) {
        EncodedDocument(octets: octets)
      } _: { [loop] result in
        outcome = result
        loop.stop()
      }
    }
    try loop.run()
    _ = try #require(outcome).get()
  }

  private func put(_ octets: [UInt8], in file: String) {
    let descriptor = open("\(path)/state/\(file)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = octets.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
  }

  @Test func whatIsWrittenIsReadByTheNextOne() throws {
    #expect(try withFolder { try $0.read("numbers") } == nil)
    try write("numbers", [1, 2, 3])
    try write("numbers", [UInt8](repeating: 5, count: 200_000))
    #expect(try withFolder { try $0.read("numbers") } == [UInt8](repeating: 5, count: 200_000))
    var status = stat()
    #expect(stat("\(path)/state/numbers", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat("\(path)/state", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test("A power cut at any octet of a write leaves the file of before")
  func powerCut() throws {
    let before: [UInt8] = Array("before".utf8)
    let after: [UInt8] = Array("what was to be written".utf8)
    try write("numbers", before)
    for count in 0...after.count {
      put(Array(after[..<count]), in: ".numbers.new")
      #expect(try withFolder { try $0.read("numbers") } == before)
    }
    try write("numbers", after)
    #expect(try withFolder { try $0.read("numbers") } == after)
    #expect(access("\(path)/state/.numbers.new", F_OK) != 0)
  }

  /// The error with which a directory is refused while another folder is open.
  private func refusal(of directory: String) throws -> StoreError? {
    try withFolder { folder in
      defer { withExtendedLifetime(folder) {} }
      do throws(StoreError) {
        _ = try DocumentFolder(path: directory, worker: worker)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test func oneDaemonADirectory() throws {
    #expect(try refusal(of: "\(path)/state") == .inUse(path: "\(path)/state"))
    #expect(try withFolder { try $0.read("numbers") } == nil, "free again")
  }

  @Test(arguments: ["/none/deep", "/state/file"])
  func whatCannotBeUsedIsNamed(place: String) throws {
    try write("file", [1])
    let text = try refusal(of: path + place)?.description
    #expect(text?.contains(place) == true && text?.contains("--state-directory") == true)
  }

  @Test(
    "What is no file is not waited for, and is put aside", .timeLimit(.minutes(10)), arguments: ["fifo", "directory"])
  func whatIsNoFile(kind: String) throws {
    try write("numbers", [1])
    let file = "\(path)/state/letters"
    #expect((kind == "fifo" ? mkfifo(file, 0o600) : mkdir(file, 0o700)) == 0)
    #expect(throws: StoreError.notAFile(path: file)) { try withFolder { try $0.read("letters") } }
    #expect(try withFolder { try $0.setAside("letters") } == "\(file).damaged")
    #expect(try withFolder { try $0.read("letters") } == nil)
  }

  @Test("A symbolic link in the place of a document is set aside, and what it leads to is untouched")
  func aLinkInThePlaceOfADocument() throws {
    try write("numbers", [1])
    let (file, target) = ("\(path)/state/letters", "\(path)/state/numbers")
    #expect(symlink(target, file) == 0)
    #expect(throws: StoreError.self) { try withFolder { try $0.read("letters") } }
    #expect(try withFolder { try $0.setAside("letters") } == "\(file).damaged")
    try write("letters", [2])
    #expect(try withFolder { try $0.read("numbers") } == [1])
  }

  @Test("Of the files that were set aside the latest five are kept")
  func setAside() throws {
    for number in 0..<9 as Range<UInt8> {
      try write("numbers", [number])
      #expect(try withFolder { try $0.setAside("numbers") } == "\(path)/state/numbers.damaged")
    }
    let kept = ["", ".1", ".2", ".3", ".4", ".5"].map { "numbers.damaged\($0)" }
    #expect(try withFolder { folder in try kept.map { try folder.read($0) } } == [[8], [7], [6], [5], [4], nil])
  }

  @Test("What others may change is not used, nor what lies below it, and the error says what to do")
  func foreignDirectories() throws {
    try withFolder { _ in }
    #expect(chmod("\(path)/state", 0o777) == 0)
    let open = try #require(throws: StoreError.self) { try withFolder { _ in } }
    #expect(open.description.contains("\(path)/state") && open.description.contains("--state-directory"), "\(open)")
    #expect(open.description.contains("other users may write to"), "\(open)")
    #expect(mkdir("\(path)/state/below", 0o700) == 0)
    #expect(throws: StoreError.self) { try DocumentFolder(path: "\(path)/state/below", worker: worker) }
    // With the sticky bit no other user can replace our folder, so its contents can be used.
    #expect(chmod("\(path)/state", 0o1777) == 0)
    #expect(throws: StoreError.self) { try withFolder { _ in } }
    _ = try DocumentFolder(path: "\(path)/state/below", worker: worker)
  }

  @Test(
    "What belongs to another user is not used, and no link of another user is followed", .enabled(if: geteuid() == 0))
  func directoriesOfOthers() throws {
    try withFolder { _ in }
    #expect(chmod(path, 0o1777) == 0)
    #expect(symlink("state", "\(path)/link") == 0)
    _ = try DocumentFolder(path: "\(path)/link", worker: worker)
    #expect(lchown("\(path)/link", 65534, 65534) == 0)
    #expect(throws: StoreError.self) { try DocumentFolder(path: "\(path)/link", worker: worker) }
    #expect(chown("\(path)/state", 65534, 65534) == 0)
    let foreign = try #require(throws: StoreError.self) { try withFolder { _ in } }
    #expect(foreign.description.contains("belongs to another user"), "\(foreign)")
  }

  @Test("A file in the place where a document is written first is not in the way", .timeLimit(.minutes(10)))
  func whatLiesInTheWay() throws {
    try write("numbers", [1])
    #expect(mkfifo("\(path)/state/.numbers.new", 0o600) == 0)
    try write("numbers", [2])
    #expect(try withFolder { try $0.read("numbers") } == [2])
  }

  @Test(
    "The remedy fits what is wrong",
    arguments: [
      (EACCES, "write access"), (EPERM, "write access"), (ENOSPC, "some space"), (EDQUOT, "some space"),
      (EROFS, "read-write"),
      (EIO, "--state-directory"),
    ])
  func remedy(code: CInt, words: String) {
    let text = StoreError.refused(path: "/d", call: "write", code: code, reason: "bad").description
    #expect(text.hasPrefix("/d: write: bad; ") && text.contains(words), "\(text)")
    #expect(text.contains("write access") == (words == "write access"), "\(text)")
  }

  @Test func aFileThatCannotBeOursIsAnError() throws {
    try write("numbers", [1])
    #expect(truncate("\(path)/state/numbers", 17 << 20) == 0)
    #expect(throws: StoreError.tooLarge(path: "\(path)/state/numbers")) { try withFolder { try $0.read("numbers") } }
    #expect(try withFolder { try $0.setAside("numbers") } == "\(path)/state/numbers.damaged")
    mkdir("\(path)/state/.numbers.new", 0o700)
    #expect(throws: StoreError.self) { try write("numbers", [1]) }
  }
}

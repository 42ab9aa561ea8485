import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A program built beside the tests, run as a process of its own. Its output is written to files, its end is awaited on
/// a socket that it inherits: nothing here polls or sleeps.
final class ChildProcess {
  /// A failure of a process.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let pid: pid_t
  private let outputPath: String
  private let errorPath: String
  private let life: CInt
  private var status: Int32?

  /// The folder that the package's programs were built into: that of the test program.
  static let products: String = {
    var path = [UInt8](repeating: 0, count: 4096)
    let count = path.withUnsafeMutableBytes { octets in
      octets.withMemoryRebound(to: CChar.self) { texts in
        texts.baseAddress.map { readlink("/proc/self/exe", $0, texts.count) } ?? 0
      }
    }
    let executable = String(decoding: path.prefix(max(count, 0)), as: UTF8.self)
    return executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? "."
  }()

  /// Starts a program.
  /// - Parameters:
  ///   - program: its name among the products, or a path.
  ///   - environment: added to the environment of the tests.
  ///   - descriptors: the inherited ones, with their numbers there.
  ///   - input: the contents of its standard input.
  ///   - terminal: the path of a terminal, for the program to use instead of files.
  ///   - folder: the folder of its output; a daemon keeps its state there.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    descriptors: [(CInt, as: CInt)] = [], input: String = "", terminal: String? = nil, folder: TemporaryFolder
  ) throws {
    let number = folder.nextNumber()
    outputPath = "\(folder.path)/\(number).out"
    errorPath = "\(folder.path)/\(number).err"
    let inputPath = "\(folder.path)/\(number).in"
    try Self.write(input, to: inputPath)
    var ends: [CInt] = [0, 0]
    // Unlike a pipe it can be created so that no other child inherits it.
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure(description: "socketpair: \(errno)") }
    life = ends[0]
    defer { close(ends[1]) }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let terminal {
      // The first terminal that the leader of a session opens becomes its own.
      for number in 0...2 { posix_spawn_file_actions_addopen(&actions, CInt(number), terminal, O_RDWR, 0) }
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // POSIX_SPAWN_SETSID, which Swift does not import.
    if terminal != nil { posix_spawnattr_setflags(&attributes, 0x80) }
    // First, because one of the numbers may equal the end's number here.
    posix_spawn_file_actions_adddup2(&actions, ends[1], 20)
    for (descriptor, number) in descriptors { posix_spawn_file_actions_adddup2(&actions, descriptor, number) }

    let path = program.contains("/") ? program : "\(Self.products)/\(program)"
    let variables = ProcessInfo.processInfo.environment
      .merging(["STATE_DIRECTORY": folder.path]) { _, new in new }
      .merging(environment) { _, new in new }
      .map { "\($0.key)=\($0.value)" }
    var pid: pid_t = 0
    let code = Self.withCStrings([path] + arguments) { arguments in
      Self.withCStrings(variables) { posix_spawn(&pid, path, &actions, &attributes, arguments, $0) }
    }
    guard code == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(code)))") }
    self.pid = pid
  }

  deinit {
    if status == nil {
      kill(pid, SIGKILL)
      _ = wait()
    }
    close(life)
  }

  /// The text on standard output and on standard error so far.
  var output: String { Self.read(outputPath) }
  var errors: String { Self.read(errorPath) }

  /// True once it has ended.
  var hasEnded: Bool {
    var waiting = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
    return status != nil || poll(&waiting, 1, 0) == 1
  }

  func send(signal: CInt) { kill(pid, signal) }

  /// Waits for its end, while it writes something now and then.
  /// - Returns: its exit status, or 128 and the signal that ended it.
  func exitStatus() throws -> Int32 {
    if let status { return status }
    var written = -1
    // A program that writes without end is given up, too.
    for _ in 0..<4 {
      if Patience.wait(for: life) { return wait() }
      let now = output.utf8.count + errors.utf8.count
      if now == written { break }
      written = now
    }
    throw Failure(description: "process \(pid) did not end:\n\(output.suffix(2000))\n\(errors.suffix(2000))")
  }

  /// Its exit status, or 128 and the signal that ended it; nil if it still runs after some seconds. Then it is killed.
  func exitStatus(orKillAfter seconds: Int32) -> Int32? {
    if let status { return status }
    var waiting = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, seconds * 1000) == 1 { return wait() }
    kill(pid, SIGKILL)
    _ = wait()
    return nil
  }

  private func wait() -> Int32 {
    var raw: Int32 = 0
    while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    let signal = raw & 0x7F
    let ended = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
    status = ended
    return ended
  }

  private static func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }

  static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failure(description: "\(path): \(errno)") }
    fputs(text, file)
    fclose(file)
  }

  static func read(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var octets: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { octets += chunk[..<count] }
    return String(decoding: octets, as: UTF8.self)
  }
}

/// A folder of its own for one test, removed with it. Its path is short enough for sockets.
final class TemporaryFolder {
  let path: String
  private var number = 0
  /// The air of the daemons in it, one after the other: devices remember the keys shared with the last one.
  private var air: TestAir?

  init() throws {
    var template = Array("/tmp/bled-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ChildProcess.Failure(description: "mkdtemp: \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  deinit {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { unlink("\(path)/\(name)") }
      }
      closedir(folder)
    }
    rmdir(path)
  }

  /// The air of a scenario, the built-in one if missing; on the own host that of the first daemon here.
  func air(_ scenario: String?, adapters: Int, isVirtual: Bool) throws -> TestAir {
    if TestAir.isOnOwnHost, let air { return air }
    var file: String?
    if let text = try scenario ?? (TestAir.isOnOwnHost ? builtinScenario() : nil) {
      file = "\(path)/scenario.json"
      try ChildProcess.write(text, to: "\(path)/scenario.json")
    }
    let new = try TestAir(scenario: file, adapters: adapters, folder: path, isVirtual: isVirtual)
    guard try Patience.wait(until: { try new.isReady }) else {
      throw ChildProcess.Failure(description: "the controllers are not there")
    }
    air = new
    return new
  }

  private func builtinScenario() throws -> String {
    let process = try ChildProcess("bled", ["--print-scenario"], folder: self)
    _ = try process.exitStatus()
    return process.output
  }

  func nextNumber() -> Int {
    number += 1
    return number
  }
}

import CBlueZ
import Glibc
import HCI

extension Machine {
  /// This machine, as it is now; takes at most a second for each controller.
  /// - Parameter socket: The daemon's socket.
  public static func current(socket: String) -> Machine {
    let control = cbz_hci_control()
    defer { if control >= 0 { _ = cbz_close(control) } }
    let files = SystemFiles()
    var controllers: [String: Controller] = [:]
    var taken: Set<String> = []
    let unconfigured = unconfigured(over: control)
    for name in files.names(in: "/sys/class/bluetooth") where control >= 0 && name.hasPrefix("hci") {
      guard let number = UInt16(name.dropFirst(3)) else { continue }
      let index = ControllerIndex(rawValue: number)
      controllers[name] = information(of: index, over: control)
      if controllers[name] == nil, unconfigured?.contains(index) == false { taken.insert(name) }
    }
    return Machine(
      files: files, release: release, bluetooth: bluetooth(control), controllers: controllers, taken: taken,
      kernelLog: kernelLog, user: currentUser, socket: socket, maySpeak: access(socket, W_OK) == 0)
  }

  private static func bluetooth(_ control: CInt) -> Bluetooth {
    switch -control {
    case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT: .absent
    case let error where error > 0: .refused(error)
    default: .present
    }
  }

  private static var release: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// A controller (mgmt-api, Read Controller Information); nil if the kernel does not use it.
  private static func information(of index: ControllerIndex, over control: CInt) -> Controller? {
    guard let octets = ask(ReadControllerInformation(), of: index, over: control),
      let told = try? ControllerInformation(decoding: octets)
    else { return nil }
    return Controller(
      version: told.version, hasLowEnergy: told.supported.contains(.lowEnergy),
      isPowered: told.current.contains(.powered))
  }

  /// The controllers not usable by the kernel yet (mgmt-api, Read Unconfigured Controller Index List); nil if it does
  /// not answer.
  private static func unconfigured(over control: CInt) -> Set<ControllerIndex>? {
    guard control >= 0, let octets = ask(ReadUnconfiguredIndexList(), of: .none, over: control) else { return nil }
    return (try? ControllerIndexList(decoding: octets)).map { Set($0.indexes) }
  }

  /// Asks the kernel, which needs no permission; nil if it refuses, or does not answer within a second.
  private static func ask<Command: ManagementCommand>(
    _ command: Command, of index: ControllerIndex, over control: CInt
  ) -> [UInt8]? {
    let command = ManagementPacket(command, index: index)
    guard cbz_write(control, command.octets, command.octets.count) >= 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 1024)
    // Events about other programs' actions may precede the answer.
    for _ in 0..<100 {
      var waiting = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 1000) == 1 else { return nil }
      let count = Int(cbz_read(control, &buffer, buffer.count))
      guard count > 0, let packet = try? ManagementPacket(decoding: Array(buffer[..<count])), packet.index == index,
        let event = try? ManagementEvent(decoding: packet)
      else { continue }
      switch event {
      case .commandComplete(let complete) where complete.opcode == Command.opcode:
        return complete.status == .success ? complete.returnParameters : nil
      case .commandStatus(let status) where status.opcode == Command.opcode: return nil
      default: continue
      }
    }
    return nil
  }

  /// The kernel's messages about Bluetooth, Documentation/ABI/testing/dev-kmsg.
  private static var kernelLog: [String]? {
    let log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard log >= 0 else { return nil }
    defer { close(log) }
    var lines: [String] = []
    var record = [UInt8](repeating: 0, count: 8192)
    for _ in 0..<200_000 {
      let count = read(log, &record, record.count)
      guard count > 0 else {
        // EPIPE: the oldest messages were overwritten meanwhile, and reading continues behind them.
        if count < 0, errno == EPIPE { continue }
        return count < 0 && errno != EAGAIN ? nil : lines
      }
      // "6,339,5140900,-;the message", then lines with keys.
      let text = record[..<count].drop { $0 != UInt8(ascii: ";") }.dropFirst().prefix { $0 != 10 }
      let line = String(decoding: text, as: UTF8.self)
      if line.contains("Bluetooth") { lines.append(line) }
    }
    return lines
  }

  private static var currentUser: User {
    var numbers = [gid_t](repeating: 0, count: 1024)
    let count = Int(getgroups(Int32(numbers.count), &numbers))
    // Each entry lies where the next one will: its name is copied at once.
    let groups = (numbers.prefix(max(count, 0)) + [getegid()]).compactMap { number in
      getgrgid(number)?.pointee.gr_name.map { String(cString: $0) }
    }
    let name = getpwuid(geteuid())?.pointee.pw_name.map { String(cString: $0) } ?? "user \(geteuid())"
    return User(
      name: name, isRoot: geteuid() == 0, groups: Set(groups),
      members: members(of: "bluetooth"))
  }

  private static func members(of group: String) -> Set<String>? {
    guard let entry = getgrnam(group) else { return nil }
    var members: Set<String> = []
    var next = entry.pointee.gr_mem
    while let name = next?.pointee {
      members.insert(String(cString: name))
      next = next?.advanced(by: 1)
    }
    return members
  }
}

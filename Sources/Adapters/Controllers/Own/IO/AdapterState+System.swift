import Adapter
import Glibc

extension AdapterState {
  /// The state of an adapter whose controller cannot be reached.
  /// - Parameters:
  ///   - error: the reason.
  ///   - address: the address that was tried.
  init(_ error: SystemError, at address: ControllerAddress) {
    switch (error.code, address) {
    case (ENOENT, _), (ENXIO, _), (ENODEV, _), (ECONNREFUSED, _), (EHOSTUNREACH, _), (ENETUNREACH, _), (ETIMEDOUT, _):
      self = .absent
    case (_, .virtual): self = .failed(AdapterProblem(failing: "\(address)", "it reports a hardware error"))
    case (_, .h4): self = .failed(AdapterProblem(ofTransport: error, "\(address)"))
    case (_, .user(let number)): self = .failed(AdapterProblem(ofUserChannel: error, "hci\(number)"))
    }
  }
}

extension AdapterProblem {
  private static let thenUsed = "bled then uses it automatically"

  /// The reason why a controller is absent.
  /// - Parameters:
  ///   - error: an error with which `AdapterState` is absent.
  ///   - address: where it was looked for.
  init(absence error: SystemError, of address: ControllerAddress) {
    let (words, name) = (H4Stream.words(error), "\(address)")
    switch address {
    case .user, .virtual:
      self.init(kind: .hardware, message: "\(name) does not exist", remedy: "plug it in; \(Self.thenUsed)")
    case .h4(.serial):
      self.init(
        kind: .hardware, message: "\(name) cannot be opened: \(words)",
        remedy: "plug the controller in, or correct the path; \(Self.thenUsed)")
    case .h4(.unix), .h4(.tcp):
      self.init(
        kind: .hardware, message: "\(name) cannot be reached: \(words)",
        remedy: "start the controller that listens there, or correct the address; \(Self.thenUsed)")
    }
  }

  /// A controller that was present is absent.
  init(goneBecause reason: String, _ address: ControllerAddress) {
    self.init(
      kind: .hardware, message: "\(address) is gone: \(reason)",
      remedy: "check the power and the connection of the controller; \(Self.thenUsed)")
  }

  /// A controller fails.
  init(failing name: String, _ reason: String) {
    self.init(
      kind: .hardware, message: "\(name) does not work: \(reason)",
      remedy: "unplug it and plug it back in, or restart the program that emulates it")
  }

  fileprivate init(ofTransport error: SystemError, _ name: String) {
    switch error.code {
    case EACCES, EPERM:
      self.init(
        kind: .permission, message: "\(name) may not be opened",
        remedy: """
          give bled's user access, for a serial line by the device's group, mostly dialout; with systemd, let the unit \
          use it (docs/adapters.md)
          """)
    case EAFNOSUPPORT, EPROTONOSUPPORT:
      self.init(
        kind: .permission, message: "\(name) may not be opened: sockets of its family are forbidden here",
        remedy: "with systemd, let the unit use the network (docs/adapters.md)")
    case EBUSY:
      self.init(kind: .inUse, message: "\(name) is used by another program", remedy: "end that program")
    case ENOTTY:
      self.init(
        kind: .unsupported, message: "\(name) is no serial line", remedy: "give one such as /dev/ttyACM0")
    default:
      self.init(
        kind: .hardware, message: "\(name) cannot be opened: \(H4Stream.words(error))",
        remedy: "check the transport of the controller")
    }
  }

  fileprivate init(ofUserChannel error: SystemError, _ name: String) {
    switch error.code {
    case EACCES, EPERM:
      self.init(
        kind: .permission, message: "bled may not take \(name) from the kernel: it lacks the capability CAP_NET_ADMIN",
        remedy: "start it through its systemd unit, as root, or with this capability")
    case EBUSY, EUSERS:
      self.init(
        kind: .inUse, message: "the kernel does not give \(name) away: another program has switched it on or taken it",
        remedy: "end that program, and `btmgmt --index \(name) power off` if it stays on")
    case ERFKILL:
      self.init(
        kind: .blocked, message: "\(name) is blocked by rfkill",
        remedy: "run `rfkill unblock bluetooth`; `rfkill list` shows whether a hardware switch blocks it")
    case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT: self = .noBluetooth(error)
    default:
      self.init(
        kind: .hardware, message: "\(name) cannot be taken from the kernel: \(H4Stream.words(error))",
        remedy: "check the kernel log with `dmesg`")
    }
  }
}

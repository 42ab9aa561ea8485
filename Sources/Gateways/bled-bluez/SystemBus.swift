import BlueZ
import CSystemd
import EventLoop
import Glibc

/// The system bus by sd-bus(3), on an event loop. One handler receives all method calls; nothing here blocks.
final class SystemBus {
  /// The name that programs look for.
  private static let name = "org.bluez"

  /// The size of a message without its values, in octets, about.
  private static let header = 256
  /// The bus itself: no program can have this name.
  private static let driver = "org.freedesktop.DBus"
  private static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
  /// Timeout for a program's answer to a ping.
  private static let timeout = Duration.seconds(25)

  /// The name is not available; with the answer of the bus, or nil if it did not answer.
  struct NameTaken: Error {}

  /// A method call, which `reply` or `fail` answers, and its approximate size in memory, in octets.
  var called: (BusCall, Int) -> Void = { _, _ in }
  /// A method call without arguments, to be refused for the reason given.
  var refused: (BusCall, BusError) -> Void = { _, _ in }
  /// A signal of a program that is watched.
  var signalled: (BusSignal) -> Void = { _ in }
  /// A program has left the bus.
  var left: (String) -> Void = { _ in }
  /// The answer to `requestName`.
  var named: (Result<Void, NameTaken>) -> Void = { _ in }

  private let bus: OpaquePointer
  private let loop: EventLoop
  let outbox: BusQueue
  private var lastNumber: UInt64 = 0
  /// The messages of the calls that are not answered yet, by program and number.
  private var calls: [String: [UInt64: OpaquePointer]] = [:]
  private var watched: [String: OpaquePointer] = [:]

  /// Opens the system bus.
  /// - Throws: `SystemBusError`.
  convenience init(_ loop: EventLoop) throws(SystemBusError) {
    var bus: OpaquePointer?
    try SystemBusError.check(sd_bus_open_system_with_description(&bus, "bled-bluez"), "open_system")
    guard let bus else { throw SystemBusError(call: "open_system", code: ENOMEM) }
    try self.init(taking: bus, loop)
  }

  /// Takes ownership of a connection to a bus.
  /// - Throws: `SystemBusError`.
  init(taking bus: OpaquePointer, _ loop: EventLoop) throws(SystemBusError) {
    self.bus = bus
    self.loop = loop
    outbox = BusQueue(bus, on: loop)
    try SystemBusError.check(sd_bus_set_exit_on_disconnect(bus, 1), "set_exit_on_disconnect")
    try SystemBusError.check(sd_bus_attach_event(bus, loop.event, 0), "attach_event")
    let context = Unmanaged.passUnretained(self).toOpaque()
    try SystemBusError.check(
      sd_bus_add_fallback(bus, nil, "/", { message, context, _ in SystemBus.from(context).received(message) }, context),
      "add_fallback")
    try SystemBusError.check(
      sd_bus_add_match_async(
        bus, nil, "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
        { message, context, _ in SystemBus.from(context).ownerChanged(message) }, nil, context),
      "add_match")
    outbox.ask = { [unowned self] in ask($0, $1) }
  }

  deinit {
    outbox.flush()
    sd_bus_close_unref(bus)
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> SystemBus {
    guard let context else { preconditionFailure("sd-bus gives back the pointer that it was given") }
    return Unmanaged<SystemBus>.fromOpaque(context).takeUnretainedValue()
  }

  /// Requests the name org.bluez; `named` is called with the outcome.
  func requestName() throws(SystemBusError) {
    try SystemBusError.check(
      sd_bus_request_name_async(
        bus, nil, Self.name, 0,
        { message, context, _ in SystemBus.from(context).nameAnswered(message) },
        Unmanaged.passUnretained(self).toOpaque()),
      "request_name")
  }

  /// Pings a program that may have unread messages. An error from the program itself is an answer, too, and so is one
  /// from a bus whose policy forbids the ping: it does not count against the program.
  private func ask(_ program: String, _ completion: @escaping (Bool) -> Void) {
    call(program, "/", "org.freedesktop.DBus.Peer", "Ping", [], timeout: Self.timeout) { result in
      switch result {
      case .success: completion(true)
      case .failure(let error):
        let isAnswer = error.name.hasPrefix("org.freedesktop.DBus.Error.Unknown") || error.name == Self.accessDenied
        completion(isAnswer)
      }
    }
  }

  // MARK: Received

  private func received(_ message: OpaquePointer?) -> Int32 {
    guard let message, let sender = Self.text(sd_bus_message_get_sender(message)),
      let path = Self.text(sd_bus_message_get_path(message)),
      let member = Self.text(sd_bus_message_get_member(message))
    else { return 0 }
    lastNumber += 1
    let number = lastNumber
    calls[sender, default: [:]][number] = sd_bus_message_ref(message)
    func call(_ arguments: [BusValue]) -> BusCall {
      BusCall(
        number: number, sender: sender, path: path, interface: Self.text(sd_bus_message_get_interface(message)),
        member: member, arguments: arguments)
    }
    guard outbox.hasRoom() else {
      refused(call([]), .limitsExceeded("the bus does not take the answers"))
      return 1
    }
    do {
      let (arguments, size) = try BusBody.sized(message)
      called(call(arguments), size)
    } catch {
      refused(call([]), .limitsExceeded("the message has too many values"))
    }
    return 1
  }

  /// Fails a call, or drops it if its program has to read first.
  func refuse(_ call: BusCall, _ error: BusError) {
    if outbox.mayGoOn(call.sender) { fail(call, error) } else { drop(call) }
  }

  /// Leaves a call without an answer, so that it stays pending on the bus, which limits pending calls.
  func drop(_ call: BusCall) {
    if let original = forget(call) { sd_bus_message_unref(original) }
  }

  /// Removes the message of a call.
  private func forget(_ call: BusCall) -> OpaquePointer? {
    let original = calls[call.sender]?.removeValue(forKey: call.number)
    if calls[call.sender]?.isEmpty == true { calls[call.sender] = nil }
    return original
  }

  /// Any program can send this signal, to this process alone: sd-bus does not know the owner of a well-known name, and
  /// lets it through.
  private func ownerChanged(_ message: OpaquePointer?) -> Int32 {
    guard let message, Self.text(sd_bus_message_get_sender(message)) == Self.driver,
      let values = try? BusBody.read(message), values.count == 3, let name = values[0].string
    else { return 0 }
    if name.utf8.first == UInt8(ascii: ":") {
      // Nothing is sent to it from now on: an account of it would stay for ever.
      for message in calls.removeValue(forKey: name)?.values ?? [:].values { sd_bus_message_unref(message) }
      left(name)
      outbox.left(name)
    }
    return 0
  }

  private func signalled(_ message: OpaquePointer?) -> Int32 {
    guard let message, let sender = Self.text(sd_bus_message_get_sender(message)),
      let path = Self.text(sd_bus_message_get_path(message)),
      let interface = Self.text(sd_bus_message_get_interface(message)),
      let member = Self.text(sd_bus_message_get_member(message)), let values = try? BusBody.read(message)
    else { return 0 }
    signalled(BusSignal(sender: sender, path: path, interface: interface, member: member, arguments: values))
    return 0
  }

  private func nameAnswered(_ message: OpaquePointer?) -> Int32 {
    // 1: the name is ours (D-Bus Specification, RequestName).
    let answer = message.flatMap { try? BusBody.read($0) }?.first
    named(answer == .uint32(1) ? .success(()) : .failure(NameTaken()))
    return 1
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }
}

extension SystemBus: Bus {
  func reply(_ call: BusCall, _ values: [BusValue]) {
    answer(call, size: Self.size(values)) { (original) throws(SystemBusError) in
      var message: OpaquePointer?
      try SystemBusError.check(sd_bus_message_new_method_return(original, &message), "new_method_return")
      guard let message else { return nil }
      do throws(SystemBusError) {
        try BusBody.append(values, to: message)
      } catch {
        sd_bus_message_unref(message)
        throw error
      }
      return message
    }
  }

  private static func size(_ values: [BusValue]) -> Int { values.reduce(header) { $0 + $1.size } }

  func fail(_ call: BusCall, _ error: BusError) {
    answer(call, size: Self.header + error.message.utf8.count) { (original) throws(SystemBusError) in
      try Self.failure(original, error)
    }
  }

  private static func failure(_ original: OpaquePointer, _ error: BusError) throws(SystemBusError) -> OpaquePointer? {
    var message: OpaquePointer?
    let result = error.name.withCString { name in
      error.message.withCString { text in
        var error = sd_bus_error(name: name, message: text, _need_free: 0)
        return sd_bus_message_new_method_error(original, &message, &error)
      }
    }
    try SystemBusError.check(result, "new_method_error")
    return message
  }

  private func answer(
    _ call: BusCall, size: Int, _ make: (OpaquePointer) throws(SystemBusError) -> OpaquePointer?
  ) {
    guard let original = forget(call) else { return }
    defer { sd_bus_message_unref(original) }
    guard sd_bus_message_get_expect_reply(original) > 0 else { return }
    do {
      if let message = try make(original) { outbox.send(message, size: size, to: call.sender) }
    } catch {
      // The bus does not accept the values: the caller must not wait in vain.
      let failure = BusError.failed("the answer cannot be sent: \(error)")
      if let message = try? Self.failure(original, failure) {
        outbox.send(message, size: Self.header, to: call.sender)
      }
    }
  }

  func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusValue], to destination: String?) {
    // Drops unicast signals to programs that do not read.
    if let destination, !outbox.mayGoOn(destination) { return }
    var message: OpaquePointer?
    guard sd_bus_message_new_signal(bus, &message, path, interface, member) >= 0, let message else { return }
    if let destination { sd_bus_message_set_destination(message, destination) }
    guard (try? BusBody.append(values, to: message)) != nil else { return _ = sd_bus_message_unref(message) }
    outbox.send(message, size: Self.size(values), to: destination)
  }

  func watch(_ client: String, _ isOn: Bool) {
    guard isOn else {
      if let slot = watched.removeValue(forKey: client) { sd_bus_slot_unref(slot) }
      return
    }
    guard watched[client] == nil else { return }
    var slot: OpaquePointer?
    sd_bus_add_match_async(
      bus, &slot, "type='signal',sender='\(client)'",
      { message, context, _ in SystemBus.from(context).signalled(message) }, nil,
      Unmanaged.passUnretained(self).toOpaque())
    watched[client] = slot
  }

  func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ values: [BusValue],
    timeout: Duration, completion: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    var message: OpaquePointer?
    guard sd_bus_message_new_method_call(bus, &message, destination, path, interface, member) >= 0, let message else {
      return loop.execute { completion(.failure(.noReply)) }
    }
    defer { sd_bus_message_unref(message) }
    let pending = Unmanaged.passRetained(PendingCall(completion))
    let microseconds = UInt64(timeout / .microseconds(1))
    guard (try? BusBody.append(values, to: message)) != nil,
      sd_bus_call_async(
        bus, nil, message,
        { message, context, _ in
          if let context { Unmanaged<PendingCall>.fromOpaque(context).takeRetainedValue().finish(message) }
          return 1
        }, pending.toOpaque(), microseconds) >= 0
    else {
      pending.release()
      return loop.execute { completion(.failure(.noReply)) }
    }
  }
}

/// A call of another program's method.
private final class PendingCall {
  private let completion: (Result<[BusValue], BusError>) -> Void

  init(_ completion: @escaping (Result<[BusValue], BusError>) -> Void) { self.completion = completion }

  func finish(_ message: OpaquePointer?) {
    guard let message else { return completion(.failure(.noReply)) }
    if sd_bus_message_is_method_error(message, nil) > 0, let error = sd_bus_message_get_error(message)?.pointee {
      return completion(
        .failure(
          BusError(
            name: error.name.map { String(cString: $0) } ?? "org.freedesktop.DBus.Error.Failed",
            message: error.message.map { String(cString: $0) } ?? "")))
    }
    completion(
      Result { () throws(BusBody.TooMany) in try BusBody.read(message) }
        .mapError { _ in .limitsExceeded("the message has too many values") })
  }
}

import BlueZ
import CSystemd
import EventLoop
import Glibc
import Testing

@testable import bled_bluez

/// The messages from the bus, which the test plays.
struct SystemBusTests {
  private let loop: EventLoop
  private let bus: SystemBus
  /// The bus's side.
  private let driver: OpaquePointer

  init() throws {
    loop = try EventLoop()
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    var server: OpaquePointer?
    try #require(sd_bus_new(&server) >= 0)
    try #require(sd_bus_set_fd(server, ends[1], ends[1]) >= 0)
    var id = sd_id128_t()
    try #require(sd_id128_randomize(&id) >= 0)
    try #require(sd_bus_set_server(server, 1, id) >= 0)
    try #require(sd_bus_start(server) >= 0)
    try #require(sd_bus_attach_event(server, loop.event, 0) >= 0)
    driver = try #require(server)
    var connection: OpaquePointer?
    try #require(sd_bus_new(&connection) >= 0)
    try #require(sd_bus_set_fd(connection, ends[0], ends[0]) >= 0)
    try #require(sd_bus_start(connection) >= 0)
    bus = try SystemBus(taking: try #require(connection), loop)
  }

  /// Says that a program has left the bus.
  private func tellLeft(_ name: String, from sender: String) throws {
    var message: OpaquePointer?
    let made = sd_bus_message_new_signal(
      driver, &message, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged")
    try #require(made >= 0)
    try #require(sd_bus_message_set_sender(message, sender) >= 0)
    for text in [name, name, ""] {
      try #require(text.withCString { sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) } >= 0)
    }
    try #require(sd_bus_send(driver, message, nil) >= 0)
    sd_bus_message_unref(message)
  }

  /// A program can send it, to this process alone, for any other.
  @Test func onlyTheBusSaysThatAProgramHasLeft() throws {
    defer { sd_bus_close_unref(driver) }
    var names: [String] = []
    bus.left = { [loop] in
      names.append($0)
      if $0 == ":1.9" { loop.stop() }
    }
    for sender in [":1.7", "org.bluez", "org.freedesktop.DBus.Local"] { try tellLeft(":1.1", from: sender) }
    try tellLeft(":1.9", from: "org.freedesktop.DBus")
    try loop.run()
    #expect(names == [":1.9"])
  }
}

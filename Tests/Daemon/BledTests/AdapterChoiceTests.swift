import BledCore
import Bluetooth
import Testing

@testable import bled

/// The adapters that a configuration or a command line names.
@Suite struct AdapterChoiceTests {
  private func list(_ names: String...) throws -> [AdapterChoice] {
    var adapters = Configuration().adapters
    adapters.names = names
    return try AdapterChoice.list(adapters) { number in
      number == 1 ? DeviceAddress("00:11:22:33:44:55", kind: .public) : nil
    }
  }

  @Test("The kernel's own host and bled's cannot share a controller, whatever it is called")
  func oneControllerInTwoWays() throws {
    for name in ["hci1", "00:11:22:33:44:55"] {
      for names in [[name, "user:hci1"], ["user:hci1", name]] {
        let error = #expect(throws: (any Error).self) { try list(names[0], names[1]) }
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains("\"\(name)\" and \"user:hci1\" are the same controller: leave out one"))
      }
    }
  }

  @Test("Other controllers are none of its business, nor one whose address is unknown")
  func otherControllers() throws {
    #expect(try list("user:hci1", "hci0", "00:11:22:33:44:56").count == 3)
    #expect(try list("user:hci2", "hci1", "00:11:22:33:44:55").count == 3)
  }
}

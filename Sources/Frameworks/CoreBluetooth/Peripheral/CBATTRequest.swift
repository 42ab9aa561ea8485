import BledClient
import Bluetooth
import FrameworkSupport

/// A read or write of this program's characteristic, to be answered with `CBPeripheralManager.respond(to:withResult:)`.
open class CBATTRequest: NSObject {
  private let origin: (central: CBCentral, characteristic: CBCharacteristic, offset: Int)
  private let octets: Guarded<Data?>
  let answer: PendingAnswer

  init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?, answer: PendingAnswer) {
    origin = (central, characteristic, offset)
    octets = Guarded(value)
    self.answer = answer
  }

  /// The requesting device.
  open var central: CBCentral { origin.central }

  /// The characteristic it asks for.
  open var characteristic: CBCharacteristic { origin.characteristic }

  /// The offset of the value, 0 to 512.
  open var offset: Int { origin.offset }

  /// The written value; for a read, the value to answer, from the offset on.
  open var value: Data? {
    get { octets[\.self] }
    set { octets[\.self] = newValue }
  }
}

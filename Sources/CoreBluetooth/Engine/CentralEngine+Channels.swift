import BledClient
import BledRPC
import Bluetooth

extension CentralEngine {
  /// Opens a channel and has the delegate told, unless the connection ends before. It does not wait for other requests,
  /// nor they for it: a device may take long to answer. Any thread.
  func openChannel(_ psm: CBL2CAPPSM, to peripheral: CBPeripheral) {
    run { [self] in
      guard let holds = links.connection(of: peripheral) else { return }
      callForDescriptor(L2CAPOpen.self, .init(peripheral: peripheral.id, psm: psm)) { [weak self] result in
        guard let self, holds(), result.failure?.isEndOfConnection != true else { return }
        deliver(to: peripheral) { peripheral in
          switch result {
          case .success(let opened):
            let channel = CBL2CAPChannel(to: peripheral, psm: opened.result.psm, opened.descriptor)
            peripheral.delegate?.peripheral(peripheral, didOpen: channel, error: nil)
          case .failure(let error):
            peripheral.delegate?.peripheral(peripheral, didOpen: nil, error: error.coreBluetooth)
          }
        }
      }
    }
  }
}

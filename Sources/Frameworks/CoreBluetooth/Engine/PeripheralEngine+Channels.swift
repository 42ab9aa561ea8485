import BledClient
import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// Listens for channels and reports it to the delegate. Any thread.
  func publishChannel(isEncrypted: Bool) {
    run { [self] in
      let security: ChannelSecurity? = isEncrypted ? .encrypted : nil
      call(L2CAPPublish.self, .init(security: security, adapter: adapter)) { [weak self] result in
        guard let self else { return }
        if case .success(let published) = result { channelAdapters[published.psm] = published.adapter }
        deliver { manager in
          manager.delegate?.peripheralManager(
            manager, didPublishL2CAPChannel: (try? result.get().psm) ?? 0, error: result.failure?.coreBluetooth)
        }
      }
    }
  }

  /// Ends listening and reports it to the delegate. Any thread.
  func unpublishChannel(_ psm: CBL2CAPPSM) {
    run { [self] in
      let adapter = channelAdapters.removeValue(forKey: psm)
      call(L2CAPUnpublish.self, .init(psm: psm, adapter: adapter)) { [weak self] result in
        self?.deliver { manager in
          manager.delegate?.peripheralManager(
            manager, didUnpublishL2CAPChannel: psm, error: result.failure?.coreBluetooth)
        }
      }
    }
  }

  /// Unpublishes all channels, without calling the delegate.
  func unpublishChannels() {
    for (psm, adapter) in channelAdapters { call(L2CAPUnpublish.self, .init(psm: psm, adapter: adapter)) }
    channelAdapters = [:]
  }

  /// A central opened a channel.
  func channelOpened(_ incoming: ChannelDescription) {
    guard let central = central(incoming.peripheral) else { return }
    callForDescriptor(L2CAPAccept.self, .init(channel: incoming.channel)) { [weak self] result in
      self?.deliver { manager in
        switch result {
        case .success(let opened):
          let channel = CBL2CAPChannel(to: central, psm: incoming.psm, opened.descriptor)
          manager.delegate?.peripheralManager(manager, didOpen: channel, error: nil)
        case .failure(let error):
          manager.delegate?.peripheralManager(manager, didOpen: nil, error: error.coreBluetooth)
        }
      }
    }
  }
}

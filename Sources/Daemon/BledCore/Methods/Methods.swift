import Adapter
import BledRPC
import Bluetooth

extension Router {
  func serveSession(_ daemon: Daemon, _ sessionRegistry: SessionRegistry) {
    serve(SessionOpen.self) { [unowned sessionRegistry] params, session, reply in
      try sessionRegistry.open(params, for: session, reply)
    }
    serve(SessionEnd.self) { [unowned sessionRegistry] params, session, reply in
      try sessionRegistry.end(params, for: session, reply)
    }
    answer(SessionList.self) { [unowned sessionRegistry] params, session in
      sessionRegistry.describe(params, to: session)
    }
    answer(AdapterList.self) { [unowned daemon] _, _ in .init(adapters: daemon.adapters.descriptions) }
    serve(AdapterPower.self) { [unowned daemon] params, session, reply in
      try daemon.adapters.find(params.adapter).setPower(params.on, for: session, reply)
    }
    acknowledge(AdapterSetName.self) { [unowned daemon] params, _ in
      try daemon.deviceName.set(params.name)
      daemon.nameChanged()
    }
    acknowledge(AdapterBlock.self) { [unowned daemon] params, _ in try daemon.central.block(params) }
    answer(MetricsGet.self) { [unowned daemon] _, _ in .init(metrics: daemon.metrics) }
    answer(RPCDiscover.self, always: { ProtocolDocument.line })
  }
}

extension Router {
  func serveScan(_ broker: ScanBroker) {
    acknowledge(ScanStart.self) { [unowned broker] params, session in try broker.start(params, for: session) }
    acknowledge(ScanStop.self) { [unowned broker] params, session in broker.stop(params.scan, of: session) }
  }
}

extension Router {
  /// Trains of periodic advertisements.
  func servePeriodic(
    _ periodic: PeriodicBroker, _ advertising: AdvertisingBroker, _ central: CentralBroker, _ server: ServerBroker
  ) {
    serve(PeriodicSync.self) { [unowned periodic] params, session, reply in
      try periodic.sync(params, for: session, reply)
    }
    acknowledge(PeriodicStop.self) { [unowned periodic] params, session in try periodic.stop(params, for: session) }
    serve(PeriodicTransfer.self) {
      [unowned periodic, unowned advertising, unowned central, unowned server]
      params, session, reply in
      let served = server.link(serving: params.peripheral, by: session)?.hub
      let hub = try served ?? central.link(to: params.peripheral, for: session).hub
      let gift = try TrainGift(params, of: session, on: hub.slot, periodic, advertising)
      hub.link.transfer(gift.train, serviceData: gift.serviceData) { error in
        if let error { reply.fail(error) } else { reply.succeed(Empty()) }
      }
    }
    serve(PeriodicRespond.self) { [unowned periodic] in try periodic.respond($0, for: $1, $2) }
    serve(AdvertisingSend.self) { [unowned advertising] params, session, reply in
      try advertising.send(params, for: session, reply)
    }
    serve(PeriodicReceive.self) { [unowned periodic, unowned central, unowned server] params, session, reply in
      let served = server.link(serving: params.peripheral, by: session)?.hub
      let hub = try served ?? central.link(to: params.peripheral, for: session).hub
      try periodic.receive(params, over: hub.link, with: hub.peripheral, on: hub.slot, for: session, reply)
    }
  }
}

extension Router {
  func servePeripheral(_ broker: CentralBroker, _ pairing: PairingBroker, _ scans: ScanBroker) {
    serve(PeripheralConnect.self) { [unowned broker] params, session, reply in
      try broker.connect(params, for: session, reply)
    }
    acknowledge(PeripheralDisconnect.self) { [unowned broker] params, session in
      try broker.disconnect(params, for: session)
    }
    answer(PeripheralList.self) { [unowned broker] _, session in .init(peripherals: broker.list(for: session)) }
    serve(PeripheralForget.self) { [unowned broker, unowned pairing, unowned scans] params, session, reply in
      broker.whenLeft(try broker.forgettable(params.peripheral, for: session)) {
        // The device may have new users by now, and the requesting program may have disconnected.
        guard reply.isWanted else { return }
        do throws(BluetoothError) {
          let peripheral = try broker.forgettable(params.peripheral, for: session)
          try pairing.bondBroker.check(session, mayForget: peripheral)
          scans.forget(peripheral)
          try broker.directory.forget(peripheral)
          pairing.bondBroker.forget(peripheral)
          reply.succeed(Empty())
        } catch {
          reply.fail(error)
        }
      }
    }
    acknowledge(PeripheralWatch.self) { [unowned broker] params, session in
      broker.watchers.set(params.on ?? true, session)
    }
    serve(PeripheralRSSI.self) { [unowned broker] params, session, reply in
      try broker.link(to: params.peripheral, for: session).measurements.measure(for: session, reply)
    }
  }
}

extension Router {
  /// The methods for links of both directions.
  func serveLinks(_ central: CentralBroker, _ server: ServerBroker) {
    serve(PeripheralParameters.self) { [unowned central] params, session, reply in
      try central.anyLink(with: params.peripheral, for: session).answer(reply)
    }
    serve(PeripheralSetParameters.self) { [unowned central, unowned server] params, session, reply in
      let wish = try params.parameters.map { try CheckedWish($0) }
      let served = server.link(serving: params.peripheral, by: session)?.hub
      let hub = try served ?? central.link(to: params.peripheral, for: session).hub
      hub.setWish(wish, of: session) { error in hub.answer(reply, error) }
    }
    serve(PeripheralSetPHY.self) { [unowned central, unowned server] params, session, reply in
      let phy = LinkPHY(choice: params.phy)
      let served = server.link(serving: params.peripheral, by: session)?.hub
      let hub = try served ?? central.link(to: params.peripheral, for: session).hub
      central.prefer(phy, on: hub, for: session)
      hub.link.request(phy) { error in hub.answer(reply, error) }
    }
  }
}

extension Router {
  func servePublishing(_ server: ServerBroker, _ advertising: AdvertisingBroker) {
    answer(ServiceAdd.self) { [unowned server] params, session in
      .init(service: try server.add(params, for: session))
    }
    acknowledge(ServiceRemove.self) { [unowned server] params, session in
      try server.remove(params.handle, for: session)
    }
    answer(ServerNotify.self) { [unowned server] params, session in
      try server.notify(params, for: session)
    }
    serve(ServerAcquire.self) { [unowned server] params, session, reply in
      try server.acquire(params, for: session, reply)
    }
    answer(ServerNotifyMultiple.self) { [unowned server] params, session in
      try server.notify(params, for: session)
    }
    serve(ServerSetLatency.self) { [unowned server] params, session, reply in
      try server.setLatency(params, for: session, reply)
    }
    serve(AdvertisingStart.self) { [unowned advertising] params, session, reply in
      try advertising.start(params, for: session, reply)
    }
    acknowledge(AdvertisingStop.self) { [unowned advertising] params, session in
      try advertising.stop(params.advertising, for: session)
    }
  }
}

extension Router {
  func servePairing(_ pairing: PairingBroker, _ central: CentralBroker) {
    serve(PeripheralPair.self) { [unowned pairing, unowned central] params, session, reply in
      let hub = try pairing.incoming(params.peripheral) ?? central.link(to: params.peripheral, for: session).hub
      try pairing.pair(params, on: hub, for: session, reply)
    }
    acknowledge(PairingRegister.self) { [unowned pairing] params, session in pairing.consent.register(params, session) }
    acknowledge(PairingUnregister.self) { [unowned pairing] _, session in pairing.consent.unregister(session) }
    acknowledge(PairingOpen.self) { [unowned pairing] params, session in
      try pairing.consent.open(params, for: session)
    }
    answer(PairingList.self) { [unowned pairing] _, _ in pairing.bondBroker.list }
    serve(PairingImport.self) { [unowned pairing] params, session, reply in
      try pairing.bondBroker.importBond(params, for: session, reply)
    }
    serve(PairingReadOutOfBand.self) { [unowned pairing] params, session, reply in
      try pairing.consent.readOutOfBand(params, for: session, reply)
    }
    acknowledge(PairingSetOutOfBand.self) { [unowned pairing] params, session in
      try pairing.consent.setOutOfBand(params, for: session)
    }
    acknowledge(PairingForget.self) { [unowned pairing] params, session in
      try pairing.bondBroker.forget(params, for: session)
    }
  }
}

extension Router {
  func serveChannels(_ channels: ChannelBroker, _ central: CentralBroker) {
    answer(L2CAPPublish.self) { [unowned channels] params, session in
      try channels.publish(params, for: session)
    }
    acknowledge(L2CAPUnpublish.self) { [unowned channels] params, session in
      try channels.unpublish(params, for: session)
    }
    serve(L2CAPOpen.self) { [unowned channels, unowned central] params, session, reply in
      let hub = try central.link(to: params.peripheral, for: session).hub
      try channels.open(params, on: hub, for: session, reply)
    }
    serve(L2CAPAccept.self) { [unowned channels] params, session, reply in
      try channels.accept(params, for: session, reply)
    }
    acknowledge(L2CAPClose.self) { [unowned channels] params, session in try channels.close(params, for: session) }
  }
}

// Whoever uses the client has the words of the protocol with it.
@_exported import BledRPC
@_exported import Bluetooth

"""Looking things up in what gatt.discover and service.add give."""

from .cases import Failure


def service(tree, uuid):
    """The service of this UUID."""
    return _one(tree["services"], uuid, "service")


def characteristic(tree, service_uuid, uuid):
    """The characteristic of this UUID in the service of that UUID."""
    return _one(service(tree, service_uuid).get("characteristics", []), uuid, "characteristic")


def descriptor(characteristic_, uuid):
    """The descriptor of this UUID."""
    return _one(characteristic_.get("descriptors", []), uuid, "descriptor")


def _one(things, uuid, kind):
    found = [thing for thing in things if thing["uuid"] == uuid]
    if len(found) != 1:
        raise Failure(f"{len(found)} times {kind} {uuid} in {[thing['uuid'] for thing in things]}")
    return found[0]

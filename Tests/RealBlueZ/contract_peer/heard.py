"""An advertisement as a line of text."""
from bumble.core import AdvertisingData
from bumble.device import Advertisement

from .gatt import short


def line(advertisement: Advertisement) -> str:
    """ "name=Served services=180D C0DE1000 connectable": fields that are not there left out, services sorted."""
    fields, services = [], []
    data = {}
    for kind, value in advertisement.data.ad_structures:
        data[kind] = value
        if size := {0x02: 2, 0x03: 2, 0x04: 4, 0x05: 4, 0x06: 16, 0x07: 16}.get(kind):
            services += [short(value[start:start + size]) for start in range(0, len(value), size)]
    for kind in (AdvertisingData.COMPLETE_LOCAL_NAME, AdvertisingData.SHORTENED_LOCAL_NAME):
        if kind in data:
            fields.append("name=" + data[kind].decode(errors="replace"))
    if services:
        fields.append("services=" + " ".join(sorted(services)))
    if AdvertisingData.MANUFACTURER_SPECIFIC_DATA in data:
        fields.append("manufacturer=" + data[AdvertisingData.MANUFACTURER_SPECIFIC_DATA].hex().upper())
    if data.keys() & {0x16, 0x20, 0x21}:
        fields.append("serviceData")
    if AdvertisingData.TX_POWER_LEVEL in data:
        fields.append(f"txPower={int.from_bytes(data[AdvertisingData.TX_POWER_LEVEL], 'little', signed=True)}")
    if advertisement.is_connectable:
        fields.append("connectable")
    return " ".join(fields)

using Esb.Core.Messages;

namespace Esb.Delivery.Lanes;

/// <summary>What asks a lane to try a parked key again; only its key counts.</summary>
internal static class ReleaseMarker
{
    public static EsbMessage Of(string endpoint, string key, TimeProvider time) =>
        EsbMessage.Create(MessageBody.Empty, time) with { Subject = endpoint, Key = key.Length == 0 ? null : key };
}

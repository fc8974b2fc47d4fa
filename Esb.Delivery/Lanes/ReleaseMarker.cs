using Esb.Core.Messages;

namespace Esb.Delivery.Lanes;

/// <summary>A marker that requests another attempt of a parked key from its lane; only its key is used.</summary>
internal static class ReleaseMarker
{
    public static EsbMessage Of(string endpoint, string key, TimeProvider time) =>
        EsbMessage.Create(MessageBody.Empty, time) with
        {
            Subject = endpoint,
            Key = key.Length == 0 ? null : key,
        };
}

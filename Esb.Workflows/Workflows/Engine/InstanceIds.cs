using Esb.Core.Messages;

namespace Esb.Workflows.Workflows.Engine;

/// <summary>Ids of instances: they follow from workflow and starting message, so that a repetition is the same instance, and sort by
/// time.</summary>
internal static class InstanceIds
{
    public static Guid Of(string workflow, EsbMessage message)
    {
        // The time of the message's own id where it has one; otherwise the time at which the message was made.
        Span<byte> bytes = stackalloc byte[16];
        MessageIds.Derive(message.Id, $"instance {workflow}").TryWriteBytes(bytes, bigEndian: true, out _);
        Span<byte> own = stackalloc byte[16];
        message.Id.TryWriteBytes(own, bigEndian: true, out _);
        if (own[6] >> 4 == 7)
        {
            own[..6].CopyTo(bytes);
        }
        else
        {
            var milliseconds = message.CreatedAt.ToUnixTimeMilliseconds();
            for (var i = 5; i >= 0; i--, milliseconds >>= 8)
                bytes[i] = (byte)milliseconds;
        }

        bytes[6] = (byte)((bytes[6] & 0x0F) | 0x70);
        return new Guid(bytes, bigEndian: true);
    }
}

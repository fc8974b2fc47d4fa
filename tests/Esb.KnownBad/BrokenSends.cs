using Esb.Core.Endpoints;
using Esb.Core.Messages;

namespace Esb.KnownBad;

/// <summary>The ways in which endpoints are broken here.</summary>
internal static class BrokenSends
{
    private const int Depth = 5_000;
    private const int TextLength = 1024 * 1024;
    private const string StuckKey = "stuck0";

    private static readonly TimeSpan Stuck = TimeSpan.FromSeconds(150);

    /// <summary>Says "done" when its work begins: messages are acknowledged before the effect is there.</summary>
    public static ValueTask<EsbMessage?> Hasty(IOutboundAdapter adapter, EsbMessage message, CancellationToken cancellationToken)
    {
        _ = Task.Run(async () => await adapter.CreateInstance().SendAsync(message, CancellationToken.None), CancellationToken.None);
        return ValueTask.FromResult<EsbMessage?>(null);
    }

    /// <summary>Fails at each tenth key with an exception of 1 MiB of text, 5,000 calls deep.</summary>
    public static ValueTask<EsbMessage?> Throwing(IOutboundAdapter adapter, EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Key?.EndsWith('0') == true)
            Fall(Depth);
        return adapter.CreateInstance().SendAsync(message, cancellationToken);
    }

    /// <summary>Works on the messages of one key for 150 s, and does not hear that it is cancelled meanwhile.</summary>
    public static async ValueTask<EsbMessage?> Deaf(IOutboundAdapter adapter, EsbMessage message, CancellationToken cancellationToken)
    {
        if (message.Key == StuckKey)
            await Task.Delay(Stuck, CancellationToken.None);
        return await adapter.CreateInstance().SendAsync(message, cancellationToken);
    }

    private static int Fall(int depth) =>
        depth == 0 ? throw new InvalidOperationException(new string('x', TextLength)) : 1 + Fall(depth - 1);
}

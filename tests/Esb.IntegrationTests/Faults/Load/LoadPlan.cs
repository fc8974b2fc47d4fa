namespace Esb.IntegrationTests.Faults.Load;

/// <summary>How much is sent, and how.</summary>
internal sealed record LoadPlan
{
    /// <summary>The load goes on until so many messages were accepted.</summary>
    public required int Messages { get; init; }

    /// <summary>Order keys; each is sent by one sender, one message after the other.</summary>
    public int Keys { get; init; } = 50;

    /// <summary>What keys begin with: another load of the same bench needs another one.</summary>
    public string KeyPrefix { get; init; } = "k";

    /// <summary>Messages per second, over all senders.</summary>
    public int Rate { get; init; } = 300;

    public int Senders { get; init; } = 16;

    public string Subject { get; init; } = "work.item";

    /// <summary>Where the messages of a key are sent to.</summary>
    public Func<int, string> PathOf { get; init; } = _ => "/work";

    /// <summary>How long a sender waits after a message that was not accepted, on average: half of it more or less, so that those who were
    /// refused together do not come back together.</summary>
    public TimeSpan PauseAfterRefusal { get; init; } = TimeSpan.FromMilliseconds(200);

    public int SmallestBody { get; init; } = 200;

    public int LargestBody { get; init; } = 64 * 1024;
}

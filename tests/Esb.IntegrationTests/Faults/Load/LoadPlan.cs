namespace Esb.IntegrationTests.Faults.Load;

/// <summary>How much is sent, and how.</summary>
internal sealed record LoadPlan
{
    /// <summary>The load goes on until so many messages were accepted.</summary>
    public required int Messages { get; init; }

    /// <summary>Order keys; each is sent by one sender, one message after the other.</summary>
    public int Keys { get; init; } = 50;

    /// <summary>Messages per second, over all senders.</summary>
    public int Rate { get; init; } = 300;

    public int Senders { get; init; } = 16;

    public string Subject { get; init; } = "work.item";

    public string Path { get; init; } = "/work";

    public int SmallestBody { get; init; } = 200;

    public int LargestBody { get; init; } = 64 * 1024;

    /// <summary>What is done to a body before it is sent; by default nothing.</summary>
    public Func<string, string, string>? Shape { get; init; }
}

namespace Esb.IntegrationTests.Adapters;

/// <summary>The clock, which makes an item each second.</summary>
internal sealed class TimerSystem : AdapterSystem
{
    public override bool IsInbound => true;

    public override bool IsRemote => false;

    public override bool TakesItems => false;

    public override string Endpoint(string credential) =>
        """
            "type": "timer-inbound", "interval": "1s", "body": { "value": { "number": 0 } }
            """;

    public override Task PutAsync(int number, CancellationToken cancellationToken) => Task.CompletedTask;

    protected override Task<int?> PrepareAsync() => Task.FromResult<int?>(null);

    protected override Task StopAsync() => Task.CompletedTask;
}

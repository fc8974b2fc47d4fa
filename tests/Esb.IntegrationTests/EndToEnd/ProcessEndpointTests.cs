using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>On the embedded default.</summary>
[Category("Thorough")]
public sealed class EmbeddedProcessEndpointTests : ProcessEndpointContract
{
    private protected override string Sections => "";
}

/// <summary>On RabbitMQ and PostgreSQL.</summary>
public sealed class ServerProcessEndpointTests : ProcessEndpointContract
{
    private readonly string _run = $"{Guid.NewGuid():N}"[..10];

    private string Name => $"pe{_run}{TestContext.CurrentContext.Test.ID.Replace('-', '_')}";

    private protected override string Sections =>
        $$"""
            "transport": { "type": "rabbitmq", "url": "${env:ESB_TEST_RABBITMQ}", "prefix": "{{Name}}" },
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{Name}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB_TEST_RABBITMQ"] = Servers.RabbitMq, ["ESB_TEST_POSTGRES"] = Servers.Postgres };

    [Test, Category("Thorough")]
    [OwnProcess]
    public async Task What_is_repeated_after_the_host_was_killed_has_the_same_ids(CancellationToken cancellationToken)
    {
        await StartAsync("parallel", cancellationToken);
        var held = new TaskCompletionSource();
        Backend.Hold = held.Task;
        for (var i = 0; i < 10; i++)
            await OrderAsync("{}", cancellationToken);
        await WaitForFilesAsync(4, cancellationToken); // published by those that now wait for the back end

        Host.Kill();
        await Host.DisposeAsync();
        held.SetResult();
        await StartHostAsync(cancellationToken);

        await WaitForFilesAsync(20, cancellationToken);
        Assert.That(Files(), Has.Count.EqualTo(20), "a bill and a copy of each order");
        Assert.That((await Host.AskAsync("/api/dead-letters", cancellationToken)).GetProperty("items").GetArrayLength(), Is.Zero);
    }
}

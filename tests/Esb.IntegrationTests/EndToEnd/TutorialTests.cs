using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>Each page of the tutorial can be typed in as it is, and shows what then happens.</summary>
[CancelAfter(240_000)]
public sealed class TutorialTests
{
    [Test]
    public async Task Page_does_what_it_shows(
        [Values("1-first-message.md", "2-process.md", "3-order-and-failure.md", "5-approval.md")] string name,
        CancellationToken cancellationToken
    )
    {
        await using var page = new TutorialPage(name, new Dictionary<string, string>());

        await page.RunAsync(cancellationToken);

        Assert.That(page.Commands, Is.AtLeast(7), "commands that were run");
    }

    [Test]
    public async Task Page_about_servers_does_what_it_shows(CancellationToken cancellationToken)
    {
        var own = $"tutorial{Guid.NewGuid():N}";
        try
        {
            await using var page = new TutorialPage(
                "4-farm-and-reload.md",
                new Dictionary<string, string>
                {
                    ["ESB_RABBITMQ"] = Servers.RabbitMq,
                    ["ESB_POSTGRES"] = Servers.Postgres,
                    ["ESB__TRANSPORT__PREFIX"] = own,
                    ["ESB__STORE__SCHEMA"] = own,
                }
            );

            await page.RunAsync(cancellationToken);

            Assert.That(page.Commands, Is.AtLeast(9), "commands that were run");
        }
        finally
        {
            await using var database = NpgsqlDataSource.Create(Servers.Postgres);
            await using var command = database.CreateCommand($"drop schema if exists {own} cascade");
            await command.ExecuteNonQueryAsync(CancellationToken.None);
        }
    }
}

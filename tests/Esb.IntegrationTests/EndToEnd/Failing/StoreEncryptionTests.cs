using System.Net;
using System.Security.Cryptography;
using Dapper;
using Esb.IntegrationTests.EndToEnd.Hosts;
using Npgsql;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Dead letters in PostgreSQL whose bodies are encrypted, from the first key to the next.</summary>
[CancelAfter(180_000)]
public sealed class StoreEncryptionTests : ShopHost
{
    private readonly string _schema = $"esb_{Guid.NewGuid():N}";
    private string _keys = "[]";

    private protected override string Sections =>
        $$"""
            "store": { "type": "postgres", "connection": "${env:ESB_TEST_POSTGRES}", "schema": "{{_schema}}" },
            """;

    private protected override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { ["ESB__STORE__ENCRYPTIONKEYS"] = _keys };

    [TearDown]
    public async Task RemoveSchema()
    {
        _keys = "[]"; // of the next test
        await Host.DisposeAsync(); // while it works, its transactions and the end of its schema may wait for each other
        await using var connection = new NpgsqlConnection(Environment.GetEnvironmentVariable("ESB_TEST_POSTGRES"));
        await connection.ExecuteAsync($"drop schema if exists {_schema} cascade");
    }

    [Test]
    public async Task Letters_of_before_are_encrypted_while_the_host_works_and_replayed_with_the_next_key(
        CancellationToken cancellationToken
    )
    {
        var ids = (await MakeLettersAsync(3, cancellationToken)).ToList();
        var plain = await BodiesAsync(cancellationToken);
        var (first, second) = (Key("first"), Key("second"));
        await RestartAsync($"[{first}]", cancellationToken);
        ids.AddRange(await OrderAsync(1, cancellationToken));
        await Host.WaitAsync(
            async token => Items(await Host.AskAsync("/api/dead-letters?endpoint=shop", token)).Count == 4,
            TimeSpan.FromSeconds(60),
            "to keep the fourth letter",
            cancellationToken
        );
        await RestartAsync($"[{second}, {first}]", cancellationToken);

        var (exitCode, output, error) = await RunAsync(cancellationToken, "store", "reencrypt");
        await RestartAsync($"[{second}]", cancellationToken);
        var stored = await BodiesAsync(cancellationToken);
        Shop.Refuses = _ => false;
        await PostAsync("/api/replays", """{ "filter": { "endpoint": "shop" } }""", cancellationToken);
        await TakenAsync(ids, cancellationToken);

        Assert.That(plain, Is.EquivalentTo(new[] { "0"u8.ToArray(), "1"u8.ToArray(), "2"u8.ToArray() }), "stored as they are without keys");
        Assert.That((exitCode, output.Trim()), Is.EqualTo((0, "4 bodies encrypted with the first key")), error);
        Assert.That(stored.Select(body => body.Length), Is.All.EqualTo(plain[0].Length + 52), "encrypted");
        Assert.That(Shop.Taken.Select(taken => taken.Message), Is.EquivalentTo(ids));
    }

    [Test, Category("Thorough")]
    public async Task Letter_whose_key_is_gone_is_named_and_the_others_are_replayed(CancellationToken cancellationToken)
    {
        await RestartAsync($"[{Key("gone")}]", cancellationToken);
        var lost = (await MakeLettersAsync(1, cancellationToken))[0];
        await RestartAsync($"[{Key("next")}]", cancellationToken);

        var (exitCode, output, _) = await RunAsync(cancellationToken, "store", "reencrypt");
        var letter = Items(await Host.AskAsync("/api/dead-letters?endpoint=shop", cancellationToken)).Single();
        var body = await Host.AnswerAsync($"/api/dead-letters/{letter.GetProperty("id").GetString()}/body", cancellationToken);

        Assert.That(exitCode, Is.EqualTo(6), output);
        Assert.That(output, Does.Contain("1 bodies could not be decrypted"));
        Assert.That(letter.GetProperty("messageId").GetGuid(), Is.EqualTo(lost), "its row is listed");
        Assert.That(body.Status, Is.EqualTo(HttpStatusCode.InternalServerError), "its body is not shown");
        Assert.That(body.Text, Does.Contain("ESB-STORE-KEY"));
        await Host.WaitForLogAsync(cancellationToken, "ESB-STORE-KEY");
    }

    private async Task RestartAsync(string keys, CancellationToken cancellationToken)
    {
        await Host.StopAsync(cancellationToken);
        await Host.DisposeAsync();
        _keys = keys;
        await StartHostAsync(cancellationToken);
    }

    private async Task<List<byte[]>> BodiesAsync(CancellationToken cancellationToken)
    {
        await using var connection = new NpgsqlConnection(Environment.GetEnvironmentVariable("ESB_TEST_POSTGRES"));
        return
        [
            .. await connection.QueryAsync<byte[]>(
                new CommandDefinition($"select body from {_schema}.dead_letter", cancellationToken: cancellationToken)
            ),
        ];
    }

    private static string Key(string id) =>
        $$"""{ "id": "{{id}}", "key": "{{Convert.ToBase64String(RandomNumberGenerator.GetBytes(32))}}" }""";
}

using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd;

/// <summary>What the first message after a start meets is ready for it, also where a step has looked into its body before.</summary>
[CancelAfter(60_000)]
public sealed class FirstMessageTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-first-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public async Task First_call_of_a_database_takes_its_values_out_of_a_body_that_a_branch_has_read(CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(
            Path.Combine(_folder.FullName, "esb.json"),
            """
            { "name": "first",
              "connections": { "shop": { "provider": "npgsql", "connection": "${env:ESB_POSTGRES}" } },
              "endpoints": {
                "door": { "type": "http-inbound", "path": "/countries", "mode": "request-reply", "process": "answer" },
                "db": { "type": "sql-outbound", "connection": "shop", "query": "select cast(@country as text) as country", "parameters": { "country": { "jsonpath": "$.country" } } } },
              "processes": { "answer": [
                { "choose": { "when": [{ "if": { "jsonpath": "$.kind", "equals": "none" }, "steps": [{ "fail": "no country" }] }] } },
                { "call": "db" } ] } }
            """,
            cancellationToken
        );
        await using var host = await RunningHost.StartAsync(
            "esb.json",
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string> { ["ESB_POSTGRES"] = Servers.Postgres }
        );

        using var answer = await host.PostAsync(
            "/countries",
            """{ "kind": "some", "country": "Germany" }""",
            "application/json",
            cancellationToken
        );

        Assert.That(
            (answer.StatusCode, await answer.Content.ReadAsStringAsync(cancellationToken)),
            Is.EqualTo((HttpStatusCode.OK, """[{"country":"Germany"}]""")),
            host.Output
        );
    }
}

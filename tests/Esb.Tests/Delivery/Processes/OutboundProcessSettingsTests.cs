using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Delivery.Processes;

/// <summary>What configurations may say of the processes around an outbound endpoint.</summary>
public sealed class OutboundProcessSettingsTests
{
    private const string Backend = "\"type\": \"http-outbound\", \"url\": \"http://127.0.0.1:1/\"";

    [Test]
    public void Outbound_endpoint_may_name_both() =>
        Assert.That(
            ErrorsOf(
                $$"""
                "backend": { {{Backend}}, "subscribe": ["orders.#"], "process": "bill", "reply": "plain", "audit": { "steps": true } },
                "files": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}.xml", "subscribe": ["orders.#"], "process": "plain" }
                """
            ),
            Is.Empty
        );

    [TestCase("process"), TestCase("reply")]
    public void Call_back_to_the_endpoint_is_refused(string setting) =>
        Assert.That(
            ErrorsOf(
                $$"""
                "backend": { {{Backend}}, "subscribe": ["orders.#"], "{{setting}}": "call-backend" }
                """
            ),
            Is.EqualTo(["ESB-CFG-LOOP endpoints.backend its process hands messages back to it: backend → backend"])
        );

    [Test]
    public void Publish_back_to_the_endpoint_is_refused() =>
        Assert.That(
            ErrorsOf(
                $$"""
                "backend": { {{Backend}}, "subscribe": ["bills.#"], "process": "bill" }
                """
            ),
            Is.EqualTo(["ESB-CFG-LOOP endpoints.backend its process hands messages back to it: backend → backend"])
        );

    [Test]
    public void Process_that_is_not_there_is_refused() =>
        Assert.That(
            ErrorsOf(
                    $$"""
                    "backend": { {{Backend}}, "process": "bil", "reply": "plian" }
                    """
                )
                .Select(error => error.Split(' ')[..2]),
            Is.EqualTo(new[] { new[] { "ESB-CFG-REF", "endpoints.backend.process" }, ["ESB-CFG-REF", "endpoints.backend.reply"] })
        );

    [Test]
    public void Reply_of_an_endpoint_that_gives_no_answer_is_refused() =>
        Assert.That(
            ErrorsOf(
                """
                "files": { "type": "file-outbound", "folder": "out", "fileName": "{message.id}.xml", "subscribe": ["orders.#"], "reply": "plain" }
                """
            ),
            Is.EqualTo(["ESB-CFG-REPLY endpoints.files.reply the endpoint gives no answers; expected none"])
        );

    [TestCase("process"), TestCase("reply")]
    public void Target_of_a_relay_is_refused(string setting) =>
        Assert.That(
            ErrorsOf(
                    $$"""
                    "door": { "type": "http-inbound", "path": "/", "relay": "backend" },
                    "backend": { {{Backend}}, "{{setting}}": "plain" }
                    """
                )
                .Select(error => error.Split(' ')[..2]),
            Is.EqualTo(new[] { new[] { "ESB-CFG-RELAY", $"endpoints.backend.{setting}" } })
        );

    [Test]
    public void Request_in_the_process_of_an_endpoint_that_a_transaction_calls_is_refused() =>
        Assert.That(
            ErrorsOf(
                    $$"""
                    "backend": { {{Backend}}, "process": "ask" },
                    "answers": { {{Backend}}, "subscribe": ["bills.#"] }
                    """,
                    """
                    , "ask": [{ "request": "bills.new" }], "all": [{ "transaction": { "connection": "shop", "steps": [{ "call": "backend" }] } }]
                    """
                )
                .Select(error => error.Split(' ')[..2]),
            Is.EqualTo(new[] { new[] { "ESB-CFG-TRANSACTION", "processes.ask[0].request" } })
        );

    private static IReadOnlyList<string> ErrorsOf(string endpoints, string processes = "")
    {
        var folder = Directory.CreateTempSubdirectory("esb-outbound-process-");
        try
        {
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                {
                  "topics": { "orders": {}, "bills": {} },
                  "connections": { "shop": { "connection": "Host=127.0.0.1;Username=u;Password=${env:SHOP}" } },
                  "endpoints": { {{endpoints}} },
                  "processes": {
                    "bill": [{ "publish": "bills.new" }], "plain": [{ "log": "passed" }]
                    {{(
                    endpoints.Contains("call-backend", StringComparison.Ordinal) ? ", \"call-backend\": [{ \"call\": \"backend\" }]" : ""
                )}}
                    {{processes}}
                  }
                }
                """
            );
            BusServices.Compile(
                folder.FullName,
                new Dictionary<string, string> { ["SHOP"] = "secret-of-the-shop" },
                new ServiceCollection().AddEsb()
            );
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return [.. ex.Errors.Select(error => $"{error.Code} {error.Path} {error.Expected}")];
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}

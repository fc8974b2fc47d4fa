using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Delivery.Processes;

/// <summary>What configurations may say of endpoints that run a process.</summary>
public sealed class ProcessEndpointSettingsTests
{
    [Test]
    public void Endpoints_that_hand_one_another_messages_one_way_are_accepted() =>
        Assert.That(
            ErrorsOf(
                """
                "bill": { "type": "process", "subscribe": ["orders.#"], "process": "bill" },
                "ship": { "type": "process", "subscribe": ["bills.#"], "process": "ship" }
                """
            ),
            Is.Empty
        );

    [
        TestCase(
            """
                "bill": { "type": "process", "subscribe": ["bills.#"], "process": "bill" }
                """,
            "bill → bill"
        ),
        TestCase(
            """
                "bill": { "type": "process", "subscribe": ["orders.#"], "process": "bill" },
                "again": { "type": "process", "subscribe": ["bills.#"], "process": "order" }
                """,
            "bill → again → bill"
        ),
        TestCase(
            """
                "bill": { "type": "process", "subscribe": ["orders.#"], "process": "inner" }
                """,
            "bill → bill"
        ),
        TestCase(
            """
                "self": { "type": "process", "subscribe": ["orders.#"], "process": "call-self" }
                """,
            "self → self"
        )
    ]
    public void Circle_of_endpoints_that_run_processes_is_refused_once(string endpoints, string circle)
    {
        var error = ErrorsOf(endpoints).Single();

        Assert.That((error.Code, error.Expected), Is.EqualTo(("ESB-CFG-LOOP", $"its process hands messages back to it: {circle}")));
    }

    [Test]
    public void Circle_that_a_filter_may_cut_is_left_to_the_count_of_hops() =>
        Assert.That(
            ErrorsOf(
                """
                "bill": { "type": "process", "subscribe": ["orders.#", "bills.#"], "process": "bill", "filter": { "header": "x-once", "exists": false } }
                """
            ),
            Is.Empty
        );

    [Test]
    public void Files_that_come_back_to_where_they_are_read_by_way_of_a_process_are_refused() =>
        Assert.That(
            ErrorsOf(
                    """
                    "in": { "type": "file-inbound", "folder": "orders", "publish": "orders.new" },
                    "bill": { "type": "process", "subscribe": ["orders.#"], "process": "bill" },
                    "out": { "type": "file-outbound", "subscribe": ["bills.#"], "folder": "orders", "fileName": "{message.id}.xml" }
                    """
                )
                .Select(error => (error.Code, error.Path)),
            Is.EqualTo(new[] { ("ESB-CFG-LOOP", "endpoints.out") })
        );

    [TestCase("""{ "type": "process", "process": "bill" }""", "ESB-CFG-REQUIRED")]
    [TestCase("""{ "type": "process", "subscribe": ["orders.#"] }""", "ESB-CFG-REQUIRED")]
    [TestCase("""{ "type": "process", "subscribe": ["orders.#"], "process": "bil" }""", "ESB-CFG-REF")]
    [TestCase("""{ "type": "process", "subscribe": ["orders.#"], "process": "bill", "once": true }""", "ESB-CFG-ONCE")]
    public void Endpoint_that_cannot_work_is_refused(string endpoint, string code) =>
        Assert.That(ErrorsOf($"\"bill\": {endpoint}").Select(error => error.Code), Is.EqualTo(new[] { code }));

    [Test]
    public void Steps_may_be_recorded_where_a_process_runs() =>
        Assert.That(
            ErrorsOf(
                """
                "bill": { "type": "process", "subscribe": ["orders.#"], "process": "bill", "audit": { "steps": true } }
                """
            ),
            Is.Empty
        );

    private static IReadOnlyList<ConfigError> ErrorsOf(string endpoints)
    {
        var folder = Directory.CreateTempSubdirectory("esb-process-settings-");
        try
        {
            File.WriteAllText(
                Path.Combine(folder.FullName, "esb.json"),
                $$"""
                {
                  "topics": { "orders": {}, "bills": {} },
                  "endpoints": { {{endpoints}} },
                  "processes": {
                    "bill": [{ "publish": "bills.new" }],
                    "order": [{ "choose": { "when": [{ "if": { "header": "x-again" }, "steps": [{ "publish": "orders.again" }] }] } }],
                    "inner": [{ "run": "order" }],
                    "ship": [{ "log": "shipped" }]{{(
                    endpoints.Contains("call-self", StringComparison.Ordinal) ? ", \"call-self\": [{ \"call\": \"self\" }]" : ""
                )}}
                  }
                }
                """
            );
            BusServices.Compile(folder.FullName, new Dictionary<string, string>(), new ServiceCollection().AddEsb());
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return ex.Errors;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }
}

using System.Text.Json.Nodes;
using Esb.Core.Configuration;

namespace Esb.Tests.Configuration;

public sealed class AllErrorsTests : ConfigurationFixture
{
    // Everything that settings can be: nested records, lists, maps, kinds, conditions in conditions, steps in steps.
    private const string Everything = """
        {
          "name": "everything",
          "transport": { "type": "rabbitmq", "url": "amqp://broker", "prefix": "esb" },
          "store": { "type": "file", "folder": "data" },
          "limits": { "maxBodySize": "1MiB", "inFlight": 5 },
          "listeners": { "public": { "url": "http://127.0.0.1:1" } },
          "schemas": { "order": { "file": "order.xsd" } },
          "topics": { "orders": { "persistent": false, "key": { "xpath": "/order" } } },
          "endpoints": {
            "in": { "type": "http-inbound", "path": "/", "process": "p", "mode": "request-reply", "methods": ["PUT"], "listener": "public" },
            "out": {
              "type": "file-outbound", "folder": "out", "subscribe": ["orders.#"], "poolSize": 2, "processingThreads": 2, "poolTimeout": "5s",
              "filter": { "all": [{ "header": "x-a", "equals": "1" }, { "not": { "header": "x-b", "exists": true } }] },
              "retry": { "immediate": 1, "delays": ["1s"] },
              "queue": { "type": "classic", "maxLength": 10, "overflow": "reject-publish" }
            }
          },
          "processes": {
            "p": [
              { "choose": { "when": [{ "if": { "xpath": "/a", "greaterThan": 5 }, "steps": [{ "publish": { "subject": "orders.new" } }] }], "otherwise": [{ "respond": { "status": 200, "contentType": "text/plain" } }] }, "id": "way", "note": "why" },
              { "set": { "headers": { "x-order": { "jsonpath": "$.id" } } } },
              { "audit": { "as": "seen", "fields": { "total": { "template": "a" } }, "body": true } },
              { "call": { "endpoint": "out", "timeout": "5s" } },
              { "validate": { "schema": "order" } }
            ]
          }
        }
        """;

    // Objects whose keys people choose; a queue's type is a property like others, an endpoint's names its kind.
    private static readonly string[] Maps = ["$.listeners", "$.schemas", "$.topics", "$.endpoints", "$.processes", ".headers", ".fields"];

    [Test]
    public void The_configuration_of_the_next_test_is_right() => Accept(Everything);

    [Test]
    public void A_misspelt_key_is_found_at_every_level_and_the_right_one_suggested()
    {
        var keys = Keys(JsonNode.Parse(Everything)!).ToList();

        Assert.That(keys, Has.Count.GreaterThan(60));
        Assert.Multiple(() =>
        {
            foreach (var (path, key) in keys)
                AssertFound(path, key);
        });
    }

    [Test]
    public void A_file_with_20_different_errors_gives_20()
    {
        var errors = Refuse(
            """
            {
              "nmae": "x",
              "policies": {},
              "name": 5,
              "transport": { "type": "rabitmq" },
              "store": { "type": "file", "foldr": "x" },
              "limits": { "inFlight": 0, "maxBodySize": "10 Mb b" },
              "topics": { "a.b": {}, "orders": {}, "Orders": {}, "t": { "persistent": "yes", "key": { "xpaht": "/a" } } },
              "endpoints": {
                "twice": { "type": "file-inbound", "folder": "x", "process": "p", "process": "p" },
                "in": { "type": "http-inbound", "path": "/", "process": "nowhere", "mode": "two-way" },
                "out": { "type": "file-outbound", "folder": "x", "timeout": "30", "poolSize": 1e400, "retry": { "delays": ["1x"] } }
              },
              "processes": { "p": [{ "publish": "no subject" }, { "pubish": "orders" }, { "respond": { "body": 1, "template": "a" } }] }
            }
            """
        );

        Assert.That(errors, Has.Count.EqualTo(20), string.Join('\n', errors));
        Assert.That(errors, Is.Unique);
        Assert.That(errors.Select(error => error.Origin), Has.None.Null, "each says where it stands");
    }

    [Test]
    public void A_refusal_lists_every_error_in_columns()
    {
        var errors = Refuse(
            """{ "endpoints": { "orders-db": { "type": "file-outbound", "folder": "x", "poolSize": 0, "timeout": "5", "procesingThreads": 2 } } }"""
        );

        var lines = new ConfigurationRefusedException(errors).Message.Split(Environment.NewLine).Select(line => line.Split(" (")[0]);

        Assert.That(
            lines,
            Is.EquivalentTo([
                "Configuration refused, 3 errors; nothing was started.",
                "  ESB-CFG-UNKNOWN   endpoints.orders-db.procesingThreads: unknown; did you mean \"processingThreads\"?",
                "  ESB-CFG-RANGE     endpoints.orders-db.poolSize = 0: expected 1..1000",
                "  ESB-CFG-DURATION  endpoints.orders-db.timeout = \"5\": expected a duration such as \"5s\" or \"2m\", 1ms..10m",
            ])
        );
    }

    private void AssertFound(string path, string key)
    {
        var misspelt = $"{key}x";
        var json = JsonNode.Parse(Everything)!;
        var owner = At(json, path);
        owner[misspelt] = owner[key]!.DeepClone();
        owner.Remove(key);

        var errors = Refuse(json.ToJsonString());

        Assert.That(
            errors.Select(error => (error.Code, error.Expected)),
            Has.Some.Matches<(string Code, string Expected)>(error =>
                error.Code == "ESB-CFG-UNKNOWN" && error.Expected.EndsWith($"did you mean \"{key}\"?", StringComparison.Ordinal)
            ),
            $"{path}.{misspelt}: {string.Join('\n', errors)}"
        );
    }

    private static IEnumerable<(string Path, string Key)> Keys(JsonNode node)
    {
        if (node is JsonArray array)
            return array.SelectMany(item => Keys(item!));
        if (node is not JsonObject owner)
            return [];
        var path = owner.GetPath();
        var isMap = Maps.Any(map => map[0] == '$' ? path == map : path.EndsWith(map, StringComparison.Ordinal));
        var own = isMap ? [] : owner.Select(member => (path, member.Key));
        return own.Concat(owner.SelectMany(member => Keys(member.Value!)));
    }

    private static JsonObject At(JsonNode root, string path) => Descend(root).OfType<JsonObject>().First(node => node.GetPath() == path);

    private static IEnumerable<JsonNode> Descend(JsonNode? node) =>
        node switch
        {
            JsonObject owner => owner.SelectMany(member => Descend(member.Value)).Prepend(owner),
            JsonArray array => array.SelectMany(Descend).Prepend(array),
            _ => [],
        };
}

using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Management.Flow;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Management.Flow;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class FlowReaderTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-flow-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Test]
    public void Workflow_is_connected_with_what_starts_it_what_it_waits_for_and_what_it_does()
    {
        var graph = Read(
            """
            {
              "topics": { "orders": {}, "stock": {} },
              "endpoints": {
                "bank": { "type": "http-outbound", "url": "https://bank.example/" },
                "shop": { "type": "http-outbound", "url": "https://shop.example/", "subscribe": ["orders.shipped"] }
              },
              "workflows": {
                "fulfil": {
                  "start": "orders.new",
                  "correlate": { "order": { "jsonpath": "$.order" } },
                  "steps": [
                    { "call": "bank" },
                    { "receive": { "subscribe": "stock.picked", "match": { "order": { "jsonpath": "$.order" } }, "timeout": "2h" } },
                    { "publish": "orders.shipped" },
                    { "startWorkflow": "thank" }
                  ]
                },
                "thank": { "steps": [{ "publish": "orders.thanked" }] }
              }
            }
            """
        );

        Assert.That(graph.Nodes.Select(node => node.Id), Does.Contain("workflow:fulfil").And.Contain("workflow:thank"));
        Assert.That(
            graph.Edges.Select(edge => $"{edge.From} {edge.Kind} {edge.To} {edge.Label}".Trim()),
            Is.EquivalentTo(
                new[]
                {
                    "topic:orders Subscribes workflow:fulfil orders.new",
                    "topic:stock Subscribes workflow:fulfil stock.picked",
                    "workflow:fulfil Calls endpoint:bank",
                    "workflow:fulfil Publishes topic:orders orders.shipped",
                    "workflow:fulfil Runs workflow:thank",
                    "workflow:thank Publishes topic:orders orders.thanked",
                    "topic:orders Subscribes endpoint:shop orders.shipped",
                }
            )
        );
    }

    private FlowGraph Read(string json)
    {
        var path = Path.Combine(_folder.FullName, "esb.json");
        File.WriteAllText(path, json);
        var (services, errors) = (new ServiceCollection().AddEsb(), new ConfigErrors());
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(path, new Dictionary<string, string>(), errors);
        var model = configuration is null ? null : CompilePhase.Compile(services, configuration, errors, TimeProvider.System);
        Assert.That(errors.All, Is.Empty);
        return FlowReader.Read(model!);
    }
}

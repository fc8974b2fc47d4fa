using Esb.Audit;
using Esb.Audit.Activities;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Storage;
using Microsoft.Extensions.DependencyInjection;
using NUnit.Framework;

namespace Esb.Tests.Audit.Activities;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class ActivityConfigTests
{
    private readonly string _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test]
    public void Activity_is_read_with_its_milestones_in_their_order()
    {
        var configuration = Read(
            """{ "activities": { "order": { "key": "order", "data": ["total"], "overdueAfter": "2h", "milestones": [{ "name": "received", "when": { "kind": "received" } }, { "name": "gone", "when": { "kind": "dead-lettered" }, "ends": true }, { "name": "priced", "when": { "name": "order-priced" } }] } } }""",
            out var errors
        )!;

        var model = new ActivityModel(configuration.Named<ActivityConfig>("activities")["order"]);

        Assert.That(errors.Any, Is.False);
        Assert.That(model.Milestones, Is.EqualTo(new[] { "received", "gone", "priced" }));
        Assert.That(model.OverdueAfter, Is.EqualTo(TimeSpan.FromHours(2)));
    }

    [
        TestCase("""[]""", "milestones"),
        TestCase("""[{ "name": "a", "when": { "kind": "received" } }, { "name": "a", "when": { "kind": "delivered" } }]""", "name"),
        TestCase("""[{ "name": "a", "when": {} }]""", "when")
    ]
    public void What_could_not_be_told_apart_is_refused(string milestones, string property)
    {
        var configuration = Read($$"""{ "activities": { "order": { "key": "order", "milestones": {{milestones}} } } }""", out var errors)!;

        new ActivityCompiler(
            configuration.Named<ActivityConfig>("activities"),
            configuration.Section<AuditConfig>("audit"),
            errors
        ).Compile();

        Assert.That(errors.All.Select(error => error.Code), Is.EqualTo(new[] { "ESB-CFG-ACTIVITY" }));
        Assert.That(errors.All.Single().Path, Does.EndWith(property));
    }

    [TestCase("30d", true), TestCase("29d", false)]
    public void Item_that_may_be_forgotten_before_it_is_overdue_is_warned_of(string overdueAfter, bool isWarned)
    {
        var configuration = Read(
            $$"""{ "activities": { "order": { "key": "order", "overdueAfter": "{{overdueAfter}}", "milestones": [{ "name": "a", "when": { "kind": "received" } }] } } }""",
            out var errors
        )!;

        new ActivityCompiler(
            configuration.Named<ActivityConfig>("activities"),
            configuration.Section<AuditConfig>("audit"),
            errors
        ).Compile();

        Assert.That(errors.Any, Is.False);
        Assert.That(
            errors.Warnings.Select(error => (error.Code, error.Path)),
            Is.EqualTo(isWarned ? [("ESB-CFG-ACTIVITY", "activities.order.overdueAfter")] : Array.Empty<(string, string)>())
        );
    }

    [Test]
    public void Milestone_at_an_endpoint_that_is_not_there_is_refused()
    {
        Read(
            """{ "activities": { "order": { "key": "order", "milestones": [{ "name": "a", "when": { "endpoint": "nowhere" } }] } } }""",
            out var errors
        );

        Assert.That(errors.All.Single().Path, Does.Contain("endpoint"));
    }

    private EsbConfiguration? Read(string json, out ConfigErrors errors)
    {
        var file = Path.Combine(_folder, "esb.json");
        File.WriteAllText(file, json);
        errors = new ConfigErrors();
        return new ConfigurationReader(SettingsCatalog.From(Services())).ReadDraft(file, new Dictionary<string, string>(), errors);
    }

    private static IServiceCollection Services() =>
        new ServiceCollection()
            .AddEsbConfiguration()
            .AddSingleton(new SettingsKind(typeof(Core.Topics.TransportConfig), "memory", typeof(MemoryTransportConfig), "In memory."))
            .AddEsbStorage()
            .AddEsbAudit();

    private sealed record MemoryTransportConfig : Core.Topics.TransportConfig;
}

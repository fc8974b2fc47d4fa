using Esb.Audit;
using Esb.Audit.Steps;
using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Content;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Storage;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Audit;

public sealed class AuditConfigTests
{
    private string _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    [Test]
    public void Nothing_written_means_the_defaults()
    {
        var config = Read("{}", out _)!.Section<AuditConfig>("audit");

        Assert.That(
            (config.Mode, config.MaxConcurrentInstances, config.Retention),
            Is.EqualTo((AuditMode.Spooled, 100, TimeSpan.FromDays(30)))
        );
        Assert.That(
            (config.Bodies, config.At.Count, config.MaxBody, config.Masks.Count, config.Steps),
            Is.EqualTo((AuditBodies.None, 5, ByteSize.KiB(256), 0, false))
        );
    }

    [TestCase("""{ "audit": { "mode": "strickt" } }""", "ESB-CFG-VALUE", "audit.mode")]
    [TestCase("""{ "audit": { "maxConcurrentInstances": 0 } }""", "ESB-CFG-RANGE", "audit.maxConcurrentInstances")]
    [TestCase("""{ "audit": { "retention": "30" } }""", "ESB-CFG-DURATION", "audit.retention")]
    [TestCase("""{ "processes": { "p": [{ "audit": { "fields": {} } }] } }""", "ESB-CFG-REQUIRED", "processes.p[0].audit.as")]
    [TestCase(
        """{ "processes": { "p": [{ "audit": { "as": "a", "maximumInstances": 1001 } }] } }""",
        "ESB-CFG-RANGE",
        "processes.p[0].audit.maximumInstances"
    )]
    public void What_cannot_be_done_is_refused(string json, string code, string path)
    {
        var configuration = Read(json, out var errors);

        Assert.That(configuration, Is.Null);
        Assert.That(errors.All.Select(error => (error.Code, error.Path)), Is.EqualTo([(code, path)]));
    }

    [Test]
    public void A_plain_name_is_a_whole_step()
    {
        var step = Read("""{ "processes": { "p": [{ "audit": "order-received" }] } }""", out _)!
            .Named<IReadOnlyList<StepConfig>>("processes")["p"][0];

        var settings = (AuditStepConfig)step.Settings;
        Assert.That(
            (settings.As, settings.MaximumInstances, settings.PoolTimeout),
            Is.EqualTo(("order-received", 50, TimeSpan.FromSeconds(60)))
        );
    }

    [Test]
    public void A_step_is_compiled_with_its_fields()
    {
        var configuration = Read(
            """{ "processes": { "p": [{ "audit": { "as": "order-received", "fields": { "order": { "header": "x-order" } } } }] } }""",
            out var errors
        )!;
        var compiler = Substitute.For<IStepCompiler>();
        compiler.Errors.Returns(errors);
        compiler.Process.Returns("p");
        compiler.Expressions.Compile(Arg.Any<IValueSource>(), errors).Returns(Substitute.For<IMessageValue>());

        var step = Compile(configuration, compiler);

        Assert.That((step.Description, step.Bind is null), Is.EqualTo(("audit(order-received)", false)));
    }

    [Test]
    public void A_step_with_a_wrong_field_is_not_compiled()
    {
        var configuration = Read(
            """{ "processes": { "p": [{ "audit": { "as": "a", "fields": { "order": { "xpath": "///" } } } }] } }""",
            out var errors
        )!;
        var compiler = Substitute.For<IStepCompiler>();
        compiler.Expressions.Compile(Arg.Any<IValueSource>(), Arg.Any<ConfigErrors>()).Returns((IMessageValue?)null);

        var step = Compile(configuration, compiler);

        Assert.That(step.Bind, Is.Null);
        Assert.That(errors.Any, Is.False, "the compiler of expressions reports, and nobody else");
    }

    private static StepModel Compile(EsbConfiguration configuration, IStepCompiler compiler) =>
        new AuditStepFactory(configuration.Section<LimitsConfig>("limits")).Compile(
            configuration.Named<IReadOnlyList<StepConfig>>("processes")["p"][0],
            compiler
        );

    private EsbConfiguration? Read(string json, out ConfigErrors errors)
    {
        var file = Path.Combine(_folder, "esb.json");
        File.WriteAllText(file, json);
        errors = new ConfigErrors();
        return new ConfigurationReader(SettingsCatalog.From(Services())).Read(file, new Dictionary<string, string>(), errors);
    }

    private static IServiceCollection Services() =>
        new ServiceCollection()
            .AddEsbConfiguration()
            .AddSingleton(new SettingsKind(typeof(Core.Topics.TransportConfig), "memory", typeof(MemoryTransportConfig), "In memory."))
            .AddEsbContent()
            .AddEsbStorage()
            .AddEsbAudit();

    private sealed record MemoryTransportConfig : Core.Topics.TransportConfig;
}

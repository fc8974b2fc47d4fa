using System.Text.Json;
using System.Text.RegularExpressions;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Host.Management;
using Esb.Host.Telemetry;
using Esb.Topics.RabbitMq;
using Microsoft.Extensions.DependencyInjection;
using NUnit.Framework;

namespace Esb.Tests.Host;

/// <summary>What is shipped for containers fits the program.</summary>
public sealed partial class DeploymentTests
{
    private static readonly string Root = FindRoot();
    private static readonly string Compose = File.ReadAllText(Path.Combine(Root, "docker-compose.yml"));

    [Test]
    public async Task Variables_of_the_bus_fit_the_configuration_it_runs()
    {
        var variables = EnvironmentOf("esb");

        await using var services = BusServices.Build(
            Path.Combine(Root, "samples", "database"),
            variables,
            new ServiceCollection().AddEsb()
        );

        var configuration = services.GetRequiredService<Live<EsbConfiguration>>().Current;
        Assert.That(variables.Keys, Has.Some.StartsWith("ESB__"));
        Assert.That(configuration.Section<ManagementConfig>("management").Url, Is.EqualTo("http://0.0.0.0:8081"));
        Assert.That(configuration.Section<TelemetryConfig>("telemetry").Otlp, Is.EqualTo("http://collector:4317"));
        Assert.That(Compose, Does.Contain("""command: ["run", "/opt/esb/samples/database"]"""));
    }

    [Test]
    public void Run_from_a_checkout_starts_the_sample_and_the_image_names_its_command()
    {
        using var settings = JsonDocument.Parse(File.ReadAllText(Path.Combine(Root, "Esb.Host", "Properties", "launchSettings.json")));
        var profile = settings.RootElement.GetProperty("profiles").EnumerateObject().First().Value;

        Assert.That(
            (profile.GetProperty("commandName").GetString(), profile.GetProperty("commandLineArgs").GetString()),
            Is.EqualTo(("Project", "run"))
        );
        Assert.That(File.ReadAllText(Path.Combine(Root, "Dockerfile")), Does.Contain("CMD [\"run\"]"));
    }

    [TestCase("deploy/kubernetes/esb.yaml"), TestCase("deploy/helm/esb/templates/statefulset.yaml")]
    public void Pods_are_probed_unprivileged_and_given_time_to_stop(string file)
    {
        var manifest = File.ReadAllText(Path.Combine(Root, file));

        Assert.That(
            manifest,
            Does.Contain("path: /health/ready").And.Contain("path: /health/live").And.Contain("terminationGracePeriodSeconds")
        );
        Assert.That(
            manifest,
            Does.Contain("runAsNonRoot: true")
                .And.Contain("runAsUser: 1654")
                .And.Contain("readOnlyRootFilesystem: true")
                .And.Contain("allowPrivilegeEscalation: false")
        );
        Assert.That(File.ReadAllText(Path.Combine(Root, "Dockerfile")), Does.Contain("USER 1654:1654").And.Contain("/var/lib/esb"));
        Assert.That(manifest, Does.Contain("mountPath: /var/lib/esb"));
        Assert.That(manifest, Does.Not.Contain("\t"), "YAML knows no tabs");
    }

    [Test]
    public void Manifests_allow_one_disruption_and_scale_by_the_length_of_a_queue()
    {
        foreach (var folder in new[] { "deploy/kubernetes", "deploy/helm/esb/templates" })
        {
            var all = string.Concat(Directory.GetFiles(Path.Combine(Root, folder)).Select(File.ReadAllText));
            Assert.That(
                all,
                Does.Contain("kind: PodDisruptionBudget").And.Contain("maxUnavailable: 1").And.Contain("mode: QueueLength"),
                folder
            );
        }

        var scaled = File.ReadAllText(Path.Combine(Root, "deploy", "kubernetes", "autoscaling.yaml"));
        Assert.That(scaled, Does.Contain($"queueName: {new RabbitMqNames("esb", "shop").Endpoint("ledger")} "), "a queue of the manifest");
    }

    [TestCase("deploy/kubernetes/esb.yaml"), TestCase("deploy/helm/esb/values.yaml")]
    public async Task Configuration_in_a_manifest_is_valid(string file)
    {
        var json = Regex.Match(File.ReadAllText(Path.Combine(Root, file)), @"esb\.json: \|\n((?: {4}.*\n)+)").Groups[1].Value;
        var folder = Directory.CreateTempSubdirectory("esb-manifest-");
        try
        {
            var path = Path.Combine(folder.FullName, "esb.json");
            await File.WriteAllTextAsync(path, json);
            var variables = new Dictionary<string, string> { ["ESB_RABBITMQ"] = "amqp://127.0.0.1", ["ESB_POSTGRES"] = "Host=127.0.0.1" };
            await using var services = BusServices.Build(path, variables, new ServiceCollection().AddEsb());
            Assert.That(services.GetRequiredService<Live<EsbConfiguration>>().Current.Name, Is.EqualTo("shop"));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [TestCase("deploy/helm/esb/Chart.yaml", "version: VERSION")]
    [TestCase("deploy/helm/esb/Chart.yaml", "appVersion: \"VERSION\"")]
    [TestCase("deploy/kubernetes/esb.yaml", "image: esb:VERSION")]
    [TestCase("docker-compose.yml", "image: esb:VERSION")]
    [TestCase("docs/guides/kubernetes.md", "docker build --tag esb:VERSION .")]
    [TestCase("CHANGELOG.md", "## VERSION - ")]
    public void Release_is_that_of_the_program(string file, string line)
    {
        Assert.That(HostVersion.Text, Does.Match(@"^\d+\.\d+\.\d+$"));
        Assert.That(File.ReadAllLines(Path.Combine(Root, file)), Has.Some.Contains(line.Replace("VERSION", HostVersion.Text)));
    }

    [Test]
    public void Unit_of_systemd_waits_for_readiness_and_is_the_one_of_the_document()
    {
        var unit = File.ReadAllText(Path.Combine(Root, "deploy", "systemd", "esb.service"));

        Assert.That(unit, Does.Contain("Type=notify").And.Contain("WatchdogSec=").And.Contain("RestartPreventExitStatus=2 3"));
        Assert.That(
            File.ReadAllText(Path.Combine(Root, "docs", "operate", "installing.md")),
            Does.Contain(unit.Split('\n', 2)[1].TrimEnd())
        );
    }

    [Test]
    public void No_service_has_a_password_of_its_own()
    {
        var secrets = Services()
            .SelectMany(EnvironmentLines)
            .Where(line => line.Contains("PASS", StringComparison.OrdinalIgnoreCase))
            .ToList();

        Assert.That(secrets, Has.Count.EqualTo(4));
        Assert.That(secrets, Has.All.Matches(@"\$\{[A-Z_]+PASSWORD:\?"));
    }

    [Test]
    public void Management_is_published_to_this_machine_only() =>
        Assert.That(Compose, Does.Contain("\"127.0.0.1:8081:8081\"").And.Not.Match("\"8081:"));

    [Test]
    public void Ports_are_published_to_this_machine_only() =>
        Assert.That(
            Regex.Matches(Compose, "- \"([^\"]*):[0-9]+\"").Select(match => match.Groups[1].Value),
            Is.Not.Empty.And.All.StartsWith("127.0.0.1:")
        );

    [Test]
    public void Every_service_gives_up_its_capabilities_and_has_bounds()
    {
        foreach (var service in Services())
        {
            var block = string.Join('\n', BlockOf(Compose.Split('\n'), $"  {service}:"));
            Assert.That(
                block,
                Does.Contain("cap_drop: [\"ALL\"]")
                    .And.Contain("no-new-privileges:true")
                    .And.Contain("pids_limit:")
                    .And.Contain("mem_limit:"),
                service
            );
        }
    }

    [Test]
    public void Image_is_built_from_locked_packages() =>
        Assert.That(File.ReadAllText(Path.Combine(Root, "Dockerfile")), Does.Contain("--locked-mode"));

    [Test]
    public void Files_that_are_mounted_exist()
    {
        var mounted = Mounted().Matches(Compose).Select(match => match.Groups["path"].Value).ToList();

        Assert.That(mounted, Is.Not.Empty);
        Assert.That(mounted.Where(path => !File.Exists(Path.Combine(Root, path))), Is.Empty);
    }

    [Test]
    public void Image_runs_as_a_numbered_user_without_secrets()
    {
        var dockerfile = File.ReadAllText(Path.Combine(Root, "Dockerfile"));

        Assert.That(dockerfile, Does.Match(@"(?m)^USER [1-9]\d*:[1-9]\d*$"));
        Assert.That(dockerfile, Does.Contain("--owner=1654 --group=0 --mode=0770 /var/lib/esb"), "any user of the group 0 may write there");
        Assert.That(dockerfile, Does.Not.Match("(?im)^(env|arg) .*(key|password|secret|token)"));
        Assert.That(Compose, Does.Contain("user: \"1654:1654\""));
    }

    private static Dictionary<string, string> EnvironmentOf(string service) =>
        EnvironmentLines(service)
            .Select(line => line.Split(':', 2))
            .ToDictionary(parts => parts[0].Trim(), parts => Reference().Replace(parts[1].Trim().Trim('"'), "chosen"));

    private static IEnumerable<string> Services() =>
        BlockOf(Compose.Split('\n'), "services:")
            .Where(line => line.StartsWith("  ", StringComparison.Ordinal) && line[2] != ' ')
            .Select(line => line.Trim(' ', ':'));

    private static IEnumerable<string> EnvironmentLines(string service) =>
        BlockOf([.. BlockOf(Compose.Split('\n'), $"  {service}:")], "    environment:");

    /// <summary>The lines below a line that are indented deeper: all the YAML that this file needs.</summary>
    private static IEnumerable<string> BlockOf(string[] lines, string head)
    {
        var depth = head.Length - head.TrimStart().Length;
        return lines
            .SkipWhile(line => line != head)
            .Skip(1)
            .Where(line => line.Trim().Length > 0)
            .TakeWhile(line => line.Length - line.TrimStart().Length > depth);
    }

    private static string FindRoot()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(folder.FullName, "Esb.sln")))
            folder = folder.Parent!;
        return folder.FullName;
    }

    [GeneratedRegex(@"\$\{[A-Z_]+:\?[^}]*\}")]
    private static partial Regex Reference();

    [GeneratedRegex(@"- \./(?<path>[^:]+):")]
    private static partial Regex Mounted();
}

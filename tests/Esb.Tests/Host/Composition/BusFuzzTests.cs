using System.Runtime.CompilerServices;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>Whatever bytes a configuration is made of, the parts of the bus check what could be read of it, and none of them
/// throws.</summary>
public sealed class BusFuzzTests
{
    private const int Rounds = 400; // of each sample

    private static readonly Dictionary<string, string> Variables = new()
    {
        ["ESB_RABBITMQ"] = "amqp://esb:secret@localhost",
        ["ESB_POSTGRES"] = "Host=localhost;Username=esb;Password=secret",
    };

    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase("orders"), TestCase("mediation"), TestCase("database"), CancelAfter(120_000)]
    public async Task Broken_configuration_is_refused_with_errors_and_nothing_else(string sample)
    {
        var original = SampleOf(sample);
        foreach (var file in Directory.GetFiles(original, "*", SearchOption.AllDirectories))
            Copy(file, original);
        var path = Path.Combine(_folder.FullName, "esb.json");
        var bytes = await File.ReadAllBytesAsync(path);
        var mutations = new Mutations(seed: 20261121);
        var refused = 0;

        for (var round = 0; round < Rounds; round++)
        {
            await File.WriteAllBytesAsync(path, round % 2 == 0 ? mutations.OfBytes(bytes) : mutations.OfValues(bytes));
            try
            {
                await (BusServices.Build(path, Variables, new ServiceCollection().AddEsb())).DisposeAsync();
            }
            catch (ConfigurationRefusedException ex)
            {
                refused++;
                Assert.That(ex.Errors, Is.Not.Empty.And.Unique);
            }
            catch (Exception ex)
            {
                Assert.Fail($"round {round}: {ex}\n{await File.ReadAllTextAsync(path)}");
            }
        }

        Assert.That(refused, Is.GreaterThan(Rounds / 2));
    }

    private static string SampleOf(string name, [CallerFilePath] string here = "") =>
        Path.GetFullPath($"../../../../samples/{name}", Path.GetDirectoryName(here)!);

    private void Copy(string file, string from)
    {
        var target = Path.Combine(_folder.FullName, Path.GetRelativePath(from, file));
        Directory.CreateDirectory(Path.GetDirectoryName(target)!);
        File.Copy(file, target);
    }
}

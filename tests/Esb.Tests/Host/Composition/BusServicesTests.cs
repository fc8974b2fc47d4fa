using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

public sealed class BusServicesTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [TestCase("Hst=x")]
    [TestCase("Database=esb")]
    [TestCase("no connection string")]
    public async Task Connection_string_of_the_store_that_is_none_is_refused_like_any_other_error(string connection)
    {
        var file = Path.Combine(_folder.FullName, "esb.json");
        await File.WriteAllTextAsync(file, $$"""{ "store": { "type": "postgres", "connection": "{{connection}}" } }""");

        var refusal = Assert.Throws<ConfigurationRefusedException>(() =>
            BusServices.Build(file, new Dictionary<string, string>(), new ServiceCollection().AddEsb())
        );

        Assert.That(refusal!.Errors.Select(error => (error.Code, error.Path)), Is.EqualTo([("ESB-CFG-CONNECTION", "store.connection")]));
    }
}

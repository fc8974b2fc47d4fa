using Esb.Configuration;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Tests.Configuration;

namespace Esb.Tests.Fuzzing;

/// <summary>A configuration is read, or refused with errors that have a code and a place.</summary>
public sealed class ConfigurationFuzzTests : Fuzzer
{
    private static readonly Dictionary<string, string> Variables = new()
    {
        ["ESB__ENDPOINTS__WAREHOUSE__POOLSIZE"] = "3",
        ["ESB__PROCESSES__RECEIVE_ORDER__1__VALIDATE"] = "order",
    };

    private readonly byte[] _valid = File.ReadAllBytes(Path.Combine(SampleTests.Sample("orders"), "esb.json"));
    private readonly ConfigurationReader _reader = new(SettingsCatalog.From(FakeSettings.Register()));
    private string _folder = null!;
    private int _read;
    private int _refused;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-").FullName;

    [TearDown]
    public void DeleteFolder() => Directory.Delete(_folder, recursive: true);

    protected override void Round(Random random)
    {
        var path = Path.Combine(_folder, "esb.json");
        File.WriteAllBytes(path, new Mutations(random.Next()).OfBytes(_valid));
        var errors = new ConfigErrors();

        var configuration = _reader.Read(path, Variables, errors);

        Assert.That(configuration is null, Is.EqualTo(errors.Any), "refused without an error, or read with one");
        Assert.That(errors.All.Select(error => error.Code), Has.All.StartsWith("ESB-"));
        if (configuration is null)
            _refused++;
        else
            _read++;
    }

    protected override void AssertReach() => Assert.That((_read, _refused), Is.Not.EqualTo((0, _refused)).And.Not.EqualTo((_read, 0)));
}

using System.Text.Json;
using Esb.Content.Schemas.Json;

namespace Esb.Tests.Content.Schemas;

/// <summary>The official test suite of draft 2020-12, read forward and as a tree.</summary>
public sealed class JsonSchemaSuiteTests
{
    private const string Address = "http://localhost:1234/draft2020-12/";

    private static readonly string Folder = Path.Combine(TestContext.CurrentContext.TestDirectory, "Content", "Schemas", "Suite");

    private static readonly Lazy<(Uri Uri, JsonElement Root)[]> Remotes = new(() =>
        [
            .. Files("remotes", SearchOption.AllDirectories)
                .Select(file =>
                    (new Uri($"{Address}{Path.GetRelativePath(Path.Combine(Folder, "remotes"), file).Replace('\\', '/')}"), Read(file))
                ),
        ]
    );

    public static IEnumerable<string> Required => Files("", SearchOption.TopDirectoryOnly).Select(Path.GetFileNameWithoutExtension)!;

    // Other drafts are refused, and the keyword dependencies of theirs is ignored.
    public static IEnumerable<string> Optional =>
        Files("optional", SearchOption.TopDirectoryOnly)
            .Select(Path.GetFileNameWithoutExtension)
            .Except(["cross-draft", "dependencies-compatibility", "format-assertion"])!;

    public static IEnumerable<string> Formats =>
        Files(Path.Combine("optional", "format"), SearchOption.TopDirectoryOnly)
            .Select(Path.GetFileNameWithoutExtension)
            .Except(["idn-hostname"])!; // the tables of IDNA 2008 are not implemented

    [TestCaseSource(nameof(Required))]
    public void Required_tests_pass(string file) =>
        Assert.That(Failures(Path.Combine(Folder, $"{file}.json"), assertsFormats: false), Is.Empty);

    [TestCaseSource(nameof(Optional))]
    public void Optional_tests_pass(string file) =>
        Assert.That(Failures(Path.Combine(Folder, "optional", $"{file}.json"), assertsFormats: false), Is.Empty);

    [TestCaseSource(nameof(Formats))]
    public void Formats_are_asserted(string file) =>
        Assert.That(Failures(Path.Combine(Folder, "optional", "format", $"{file}.json"), assertsFormats: true), Is.Empty);

    [Test]
    public void Meta_schemas_may_assert_formats() =>
        Assert.That(Failures(Path.Combine(Folder, "optional", "format-assertion.json"), assertsFormats: false), Is.Empty);

    [Test]
    public void Documents_that_are_not_part_of_the_configuration_are_refused()
    {
        var groups = Read(Path.Combine(Folder, "refRemote.json")).EnumerateArray().ToList();

        var faults = groups.Select(group => SomeJsonSchemas.Compile(group.GetProperty("schema").GetRawText()).Faults).ToList();

        Assert.That(faults, Has.Count.GreaterThan(10).And.All.Not.Empty);
        Assert.That(faults.SelectMany(found => found).Select(fault => fault.Code), Is.All.EqualTo(SchemaFault.Reference));
    }

    private static List<string> Failures(string file, bool assertsFormats)
    {
        var failures = new List<string>();
        foreach (var group in Read(file).EnumerateArray())
        {
            var name = group.GetProperty("description").GetString()!;
            if (name.Contains("A-label", StringComparison.Ordinal))
                continue; // by the tables of IDNA 2008
            var schema = SomeJsonSchemas.Compile(group.GetProperty("schema").GetRawText(), assertsFormats, Remotes.Value);
            if (schema.Node is null)
                failures.Add(
                    $"{name}: {string.Join("; ", schema.Faults.Select(fault => $"{fault.Code} {fault.Pointer}: {fault.Problem}"))}"
                );
            else
                failures.AddRange(
                    group
                        .GetProperty("tests")
                        .EnumerateArray()
                        .Where(test => !Passes(schema, test))
                        .Select(test => $"{name}: {test.GetProperty("description").GetString()}")
                );
        }

        return failures;
    }

    private static bool Passes(SomeJsonSchema schema, JsonElement test) =>
        schema.Accepts(test.GetProperty("data").GetRawText()) == test.GetProperty("valid").GetBoolean();

    private static IEnumerable<string> Files(string folder, SearchOption depth) =>
        Directory.EnumerateFiles(Path.Combine(Folder, folder), "*.json", depth).Order(StringComparer.Ordinal);

    private static JsonElement Read(string file) => JsonDocument.Parse(File.ReadAllBytes(file)).RootElement;
}

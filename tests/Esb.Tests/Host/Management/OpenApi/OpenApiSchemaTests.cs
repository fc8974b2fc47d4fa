using Esb.Tests.Content.Schemas;

namespace Esb.Tests.Host.Management.OpenApi;

/// <summary>The description of the API keeps to the schema of OpenAPI 3.1, judged by our own validator.</summary>
[CancelAfter(60_000)]
public sealed class OpenApiSchemaTests : ManagementFixture
{
    private static readonly string Schema = File.ReadAllText(
        Path.Combine(TestContext.CurrentContext.TestDirectory, "Host", "Management", "OpenApi", "schema-3.1.json")
    );

    [Test]
    public async Task Description_is_valid(CancellationToken cancellationToken)
    {
        var schema = SomeJsonSchemas.Compile(Schema);

        Assert.That(schema.Faults, Is.Empty);
        Assert.That(schema.ErrorOf(await Client.GetStringAsync("/api/openapi.json", cancellationToken))?.Message, Is.Null);
    }

    [
        TestCase("\"openapi\": \"3.1.0\"", "\"openapi\": \"2.0\""),
        TestCase("\"in\": \"path\"", "\"in\": \"somewhere\""),
        TestCase("\"responses\"", "\"answers\"")
    ]
    public async Task Broken_description_is_not(string sound, string broken, CancellationToken cancellationToken)
    {
        var document = await Client.GetStringAsync("/api/openapi.json", cancellationToken);

        Assert.That(document, Does.Contain(sound));
        Assert.That(
            SomeJsonSchemas.Compile(Schema).ErrorOf(document.Replace(sound, broken, StringComparison.Ordinal))?.Code,
            Is.EqualTo("ESB-JSON-SCHEMA")
        );
    }
}

using System.Text.Json;
using System.Text.Json.Nodes;
using Esb.Host;
using Esb.Host.Commands;
using Esb.Host.Composition;
using Esb.Tests.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Commands;

/// <summary>What <c>esb new</c> writes runs as it is.</summary>
public sealed class NewCommandTests : CommandLineFixture
{
    private static readonly Dictionary<string, string> Variables = new()
    {
        ["ESB_RABBITMQ"] = "amqp://esb:secret@localhost",
        ["ESB_POSTGRES"] = "Host=localhost;Username=esb;Password=secret",
        ["ESB_BACKEND"] = "http://localhost:9000",
    };

    [TestCase("starter"), TestCase("orders"), TestCase("mediation"), TestCase("billing"), TestCase("database"), TestCase("transactions")]
    public async Task Written_configuration_is_valid_and_names_its_schema(string sample)
    {
        var folder = Path.Combine(Folder, "My Shop");

        var exitCode = await InvokeAsync("new", folder, "--sample", sample);

        Assert.That(exitCode, Is.Zero, Error);
        var model = BusServices.Compile(folder, Variables, new ServiceCollection().AddEsb());
        Assert.That(model.Configuration.Name, Is.EqualTo("my-shop"));
        var options = new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip };
        var written = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(folder, "esb.json")), documentOptions: options)!;
        Assert.That((string?)written["$schema"], Is.EqualTo("./esb.schema.json"));
        var schema = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(folder, "esb.schema.json")))!.AsObject();
        Assert.That(new SchemaValidator(schema).Validate(written), Is.Empty);
        Assert.That(
            await File.ReadAllTextAsync(Path.Combine(folder, "README.md")),
            Does.Contain("esb run .").And.Contains("esb validate .")
        );
        Assert.That(Output, Does.Contain("esb run"));
    }

    [Test]
    public async Task Folder_with_files_is_left_alone()
    {
        var file = Write("{}");

        Assert.That(await InvokeAsync("new", Folder), Is.EqualTo(2));
        Assert.That(Error, Does.StartWith("ESB-CLI-EXISTS"));
        Assert.That(await File.ReadAllTextAsync(file), Is.EqualTo("{}"));
    }

    [Test]
    public async Task Unknown_sample_is_refused_with_the_nearest_one()
    {
        Assert.That(await InvokeAsync("new", Path.Combine(Folder, "new"), "--sample", "oders"), Is.EqualTo(2));
        Assert.That(Error, Does.Contain("did you mean \"orders\"?"));
        Assert.That(Directory.Exists(Path.Combine(Folder, "new")), Is.False);
    }

    private Task<int> InvokeAsync(params string[] arguments) => RunAsync(() => new ServiceCollection().AddEsb(), arguments);
}

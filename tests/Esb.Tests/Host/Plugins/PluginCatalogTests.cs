using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Host;
using Esb.Host.Commands;
using Esb.Host.Composition;
using Esb.Host.Plugins;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Plugins;

public sealed class PluginCatalogTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("esb-plugins-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test]
    public void Plug_in_is_loaded_with_its_version_and_its_step_is_compiled_and_described()
    {
        Put("stamping", new PluginAssembly("stamping").WithClass("Entry", nameof(Registrations.Stamp)).Write());

        var catalog = Load();
        var model = BusServices.Compile(
            Write("""{ "processes": { "one": [{ "stamp": "seen" }] } }"""),
            new Dictionary<string, string>(),
            catalog.AddTo(new ServiceCollection().AddEsb())
        );

        Assert.That(catalog.All.Select(plugin => (plugin.Name, plugin.Version)), Is.EqualTo(new[] { ("stamping", "1.2.3.0") }));
        Assert.That(model.Get<ProcessModels>().Find("one")!.Description, Is.EqualTo("stamp(seen)"));
    }

    [Test]
    public async Task Schema_names_what_a_plug_in_brings()
    {
        Put("stamping", new PluginAssembly("stamping").WithClass("Entry", nameof(Registrations.Stamp)).Write());

        var (exitCode, output) = await RunAsync("schema");

        Assert.That(exitCode, Is.Zero);
        Assert.That(output, Does.Contain("\"stamp\""));
    }

    [Test]
    public void Plug_in_serves_any_number_of_configurations()
    {
        Put("stamping", new PluginAssembly("stamping").WithClass("Entry", nameof(Registrations.Stamp)).Write());
        var catalog = Load();

        Assert.That(() => catalog.AddTo(new ServiceCollection().AddEsb()), Throws.Nothing);
        Assert.That(() => catalog.AddTo(new ServiceCollection().AddEsb()), Throws.Nothing);
    }

    [Test]
    public void Folders_that_begin_with_a_dot_and_files_are_left_alone()
    {
        _folder.CreateSubdirectory(".data");
        File.WriteAllText(Path.Combine(_folder.FullName, "README"), "");

        Assert.That(Load().All, Is.Empty);
    }

    [Test]
    public void Folder_without_an_assembly_of_its_name_is_refused()
    {
        _folder.CreateSubdirectory("empty");

        Assert.That(
            Refusals(),
            Is.EqualTo(
                new[]
                {
                    $"ESB-PLUGIN-FOLDER {Path.Combine(_folder.FullName, "empty")}: has no empty.dll: expected the assembly of the "
                        + $"plug-in, named as its folder",
                }
            )
        );
    }

    [TestCase("", "found none"), TestCase("One", null), TestCase("One Two", "found One and Two")]
    public void One_public_class_is_expected(string classes, string? refusal)
    {
        var assembly = new PluginAssembly("counted").WithClass("Hidden", isPublic: false);
        foreach (var name in classes.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            assembly.WithClass(name);
        Put("counted", assembly.Write());

        Assert.That(Refusals(), refusal is null ? Is.Empty : Has.One.StartsWith("ESB-PLUGIN-CLASS").And.All.EndsWith(refusal));
    }

    [Test]
    public void File_that_is_no_assembly_is_refused()
    {
        Put("text", "no assembly"u8.ToArray());

        Assert.That(Refusals(), Has.One.StartsWith($"ESB-PLUGIN-LOAD {PathOf("text")}: cannot be loaded"));
    }

    [Test]
    public void Assembly_whose_dependency_is_missing_is_refused()
    {
        Put("needy", PluginAssembly.BuiltWithout(new PluginAssembly("needy").WithClass("Entry").Write()));

        Assert.That(Refusals(), Has.One.StartsWith($"ESB-PLUGIN-LOAD {PathOf("needy")}").And.All.Contains("Esb.Gonex"));
    }

    [TestCase(0, 1), TestCase(0, 3), TestCase(1, 0), TestCase(0, 0)]
    public void Assembly_for_another_version_of_the_contracts_is_refused(int major, int minor)
    {
        var file = new PluginAssembly("other").WithClass("Entry").Write();
        Put("other", PluginAssembly.BuiltFor(file, "Esb.Configuration", new Version(major, minor)));

        Assert.That(
            Refusals(),
            Has.One.StartsWith($"ESB-PLUGIN-VERSION {PathOf("other")}: is built for Esb.Configuration {major}.{minor}.0, and this is 0.2.0")
        );
    }

    [Test]
    public void Plug_in_that_throws_while_it_registers_is_refused_without_a_stack_trace()
    {
        Put("thrower", new PluginAssembly("thrower").WithClass("Entry", nameof(Registrations.Throws)).Write());

        Assert.That(
            Refusals(),
            Is.EqualTo(
                new[]
                {
                    $"ESB-PLUGIN-FAILED {PathOf("thrower")}: failed while it registered, with InvalidOperationException: nothing of "
                        + $"0 is to be had",
                }
            )
        );
    }

    [TestCase(nameof(Registrations.KnownStep), "the step 'validate'")]
    [TestCase(nameof(Registrations.UnavailableStep), "the step 'applyPolicy'")]
    [TestCase(nameof(Registrations.KnownSection), "the section 'limits'")]
    public void Name_that_is_taken_is_refused(string registration, string taken)
    {
        Put("taker", new PluginAssembly("taker").WithClass("Entry", registration).Write());

        Assert.That(Refusals(), Has.One.EqualTo($"ESB-PLUGIN-KIND {PathOf("taker")}: registers {taken}, which is registered already"));
    }

    [Test]
    public void Name_that_two_plug_ins_bring_is_refused()
    {
        foreach (var name in new[] { "first", "second" })
            Put(name, new PluginAssembly(name).WithClass("Entry", nameof(Registrations.Stamp)).Write());

        Assert.That(
            Refusals(),
            Has.Some.EqualTo($"ESB-PLUGIN-KIND {PathOf("second")}: registers the step 'stamp', which is registered already")
        );
    }

    [Test]
    public void Settings_that_nobody_can_read_are_refused()
    {
        Put("odd", new PluginAssembly("odd").WithClass("Entry", nameof(Registrations.SettingsThatAreNone)).Write());

        Assert.That(Refusals(), Has.One.StartsWith($"ESB-PLUGIN-FAILED {PathOf("odd")}: has settings that cannot be described"));
    }

    [Test]
    public void All_plug_ins_that_are_wrong_are_told_at_once()
    {
        _folder.CreateSubdirectory("empty");
        Put("text", "no assembly"u8.ToArray());

        Assert.That(Refusals(), Has.Count.EqualTo(2));
    }

    [Test]
    public void Folder_that_the_variable_names_must_exist()
    {
        var missing = Path.Combine(_folder.FullName, "missing");

        var refusal = Assert.Throws<ConfigurationRefusedException>(() =>
            PluginCatalog.Load(new Dictionary<string, string> { ["ESB_PLUGINS"] = missing })
        )!;

        Assert.That(
            refusal.Errors.Select(error => error.ToString()),
            Has.One.EqualTo($"ESB-PLUGIN-FOLDER {missing}: is named by ESB_PLUGINS, and there is no such folder")
        );
    }

    [Test]
    public async Task Command_ends_with_the_exit_code_of_a_configuration_and_names_the_place()
    {
        _folder.CreateSubdirectory("empty");

        var (exitCode, output) = await RunAsync("validate", Write("{}"));

        Assert.That(exitCode, Is.EqualTo(ExitCode.Configuration));
        Assert.That(
            output,
            Does.Contain("ESB-PLUGIN-FOLDER").And.Contain(Path.Combine(_folder.FullName, "empty")).And.Not.Contain("   at ")
        );
    }

    private async Task<(int ExitCode, string Output)> RunAsync(params string[] arguments)
    {
        var variables = new Dictionary<string, string> { ["ESB_PLUGINS"] = _folder.FullName };
        await using var output = new StringWriter();
        var exitCode = await EsbCommandLine.InvokeAsync(
            arguments,
            new CommandContext
            {
                Output = output,
                Error = output,
                Variables = variables,
                Services = () => PluginCatalog.Load(variables).AddTo(new ServiceCollection().AddEsb()),
            }
        );
        return (exitCode, output.ToString());
    }

    private List<string> Refusals()
    {
        try
        {
            Load().AddTo(new ServiceCollection().AddEsb());
            return [];
        }
        catch (ConfigurationRefusedException ex)
        {
            return [.. ex.Errors.Select(error => error.ToString())];
        }
    }

    private PluginCatalog Load() => PluginCatalog.Load([_folder.FullName], new ConfigErrors());

    private string PathOf(string name) => Path.Combine(_folder.FullName, name, $"{name}.dll");

    private void Put(string name, byte[] assembly)
    {
        _folder.CreateSubdirectory(name);
        File.WriteAllBytes(PathOf(name), assembly);
    }

    private string Write(string json)
    {
        var file = Path.Combine(_folder.FullName, "esb.json"); // files beside the folders of plug-ins are left alone
        File.WriteAllText(file, json);
        return file;
    }
}

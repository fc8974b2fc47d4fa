using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;
using Esb.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Plugins;

/// <summary>Writes the assembly of a plug-in.</summary>
internal sealed class PluginAssembly
{
    private readonly PersistedAssemblyBuilder _assembly;
    private readonly ModuleBuilder _module;

    public PluginAssembly(string name)
    {
        _assembly = new PersistedAssemblyBuilder(new AssemblyName(name) { Version = new Version(1, 2, 3, 0) }, typeof(object).Assembly);
        _module = _assembly.DefineDynamicModule(name);
    }

    /// <summary>Adds a class that registers with one of the methods of <see cref="Registrations"/>.</summary>
    public PluginAssembly WithClass(string name, string registration = nameof(Registrations.Nothing), bool isPublic = true)
    {
        var type = _module.DefineType(
            name,
            isPublic ? TypeAttributes.Public : TypeAttributes.NotPublic,
            typeof(object),
            [typeof(IEsbPlugin)]
        );
        type.DefineDefaultConstructor(MethodAttributes.Public);
        var register = type.DefineMethod(
            nameof(IEsbPlugin.Register),
            MethodAttributes.Public | MethodAttributes.Virtual,
            typeof(void),
            [typeof(IServiceCollection)]
        );
        var code = register.GetILGenerator();
        code.Emit(OpCodes.Ldarg_1);
        code.Emit(OpCodes.Call, typeof(Registrations).GetMethod(registration)!);
        code.Emit(OpCodes.Ret);
        type.CreateType();
        return this;
    }

    public byte[] Write()
    {
        using var file = new MemoryStream();
        _assembly.Save(file);
        return file.ToArray();
    }

    /// <summary>The assembly as if it had been built with another version of one that it references.</summary>
    public static byte[] BuiltFor(byte[] file, string reference, Version version)
    {
        using var portable = new PEReader(new MemoryStream(file));
        var metadata = portable.GetMetadataReader();
        var found = metadata.AssemblyReferences.Single(handle =>
            metadata.GetString(metadata.GetAssemblyReference(handle).Name) == reference
        );
        var row =
            portable.PEHeaders.MetadataStartOffset
            + metadata.GetTableMetadataOffset(TableIndex.AssemblyRef)
            + ((MetadataTokens.GetRowNumber(found) - 1) * metadata.GetTableRowSize(TableIndex.AssemblyRef));
        var changed = file.ToArray();
        BitConverter.TryWriteBytes(changed.AsSpan(row), (ushort)version.Major);
        BitConverter.TryWriteBytes(changed.AsSpan(row + 2), (ushort)version.Minor);
        return changed;
    }

    /// <summary>The assembly as if it had been built with an assembly that is not there, in place of the one of these tests.</summary>
    public static byte[] BuiltWithout(byte[] file)
    {
        var changed = file.ToArray();
        var at = changed.AsSpan().IndexOf("\0Esb.Tests\0"u8);
        Assert.That(at, Is.Positive, "the name of the reference");
        Encoding.UTF8.GetBytes("Esb.Gonex").CopyTo(changed, at + 1);
        return changed;
    }
}

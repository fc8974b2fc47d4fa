using System.Reflection;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Esb.Configuration.Settings;

/// <summary>Finds the setting type of a property from its CLR type.</summary>
internal static class SettingTypes
{
    public static SettingType For(PropertyInfo property, SettingAttribute setting) => For(property.PropertyType, setting);

    public static SettingType For(Type type, SettingAttribute setting)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        if (type == typeof(string))
            return new TextType(setting);
        if (type == typeof(int) || type == typeof(long))
            return new IntegerType(type, setting);
        if (type == typeof(bool))
            return new BooleanType();
        if (type == typeof(TimeSpan))
            return new DurationType(setting);
        if (type == typeof(ByteSize))
            return new SizeType(setting);
        if (type == typeof(ConfigNode))
            return new JsonType();
        if (type == typeof(StepConfig))
            return new StepType();
        if (type == typeof(StopConfig))
            return new StopType();
        if (type.IsEnum)
            return new ChoiceType(type);
        if (IsGeneric(type, typeof(IReadOnlyList<>)))
            return new ListType(type.GetGenericArguments()[0], setting);
        if (IsGeneric(type, typeof(IReadOnlyDictionary<,>)))
            return new MapType(type.GetGenericArguments()[1], setting);
        if (IsGeneric(type, typeof(WordOrMap<,>)))
            return (SettingType)Activator.CreateInstance(typeof(WordOrMapType<,>).MakeGenericType(type.GetGenericArguments()), setting)!;
        if (type.GetInterfaces().Any(candidate => IsGeneric(candidate, typeof(ITextSetting<>))))
            return (SettingType)Activator.CreateInstance(typeof(ParsedType<>).MakeGenericType(type))!;
        if (type.GetCustomAttribute<KindsAttribute>() is { } kinds)
            return new KindsType(type, kinds);
        return typeof(SettingsRecord).IsAssignableFrom(type)
            ? RecordType.Of(type)
            : throw new NotSupportedException($"{type} cannot be a setting.");
    }

    private static bool IsGeneric(Type type, Type definition) => type.IsGenericType && type.GetGenericTypeDefinition() == definition;
}

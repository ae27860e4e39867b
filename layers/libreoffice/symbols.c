#include "symbols.h"

#include <dlfcn.h>
#include <string.h>

static void (*set_kit_mode)(bool);
static void (*reseed)(void);

// LibreOffice's lock, which its timer thread needs.
static void (*acquire_lock)(unsigned);
static unsigned (*release_lock)(void);

// Sets a function pointer to a function of the library, or to NULL. It is copied, because C cannot convert pointers to
// objects into pointers to functions.
static void find_function(void *library, const char *name, void *function)
{
    void *const found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

void find_functions(void *library)
{
    find_function(library, "_ZN10comphelper14LibreOfficeKit9setActiveEb", &set_kit_mode);
    find_function(library, "_ZN10comphelper3rng6reseedEv", &reseed);
    find_function(library, "_ZN11Application17AcquireSolarMutexEj", &acquire_lock);
    find_function(library, "_ZN11Application17ReleaseSolarMutexEv", &release_lock);
}

void restart_random(void)
{
    if (reseed)
        reseed();
}

void hold_timers(bool on)
{
    if (!acquire_lock || !release_lock)
        return;
    if (on)
        acquire_lock(1);
    else
        release_lock();
}

void use_kit_mode(bool on)
{
    if (set_kit_mode)
        set_kit_mode(on);
}

void use_system_language(void *library)
{
    // Application::GetSettings, AllSettings::SetLanguageTag, and the constructor and the language of SvtSysLocale.
    void *(*settings)(void);
    void (*set)(void *, const void *);
    void (*create)(void *);
    const void *(*language)(const void *);
    find_function(library, "_ZN11Application11GetSettingsEv", &settings);
    find_function(library, "_ZN11AllSettings14SetLanguageTagERK11LanguageTag", &set);
    find_function(library, "_ZN12SvtSysLocaleC1Ev", &create);
    find_function(library, "_ZNK12SvtSysLocale14GetLanguageTagEv", &language);
    if (!set_kit_mode || !settings || !set || !create || !language)
        return;
    // A std::shared_ptr, which owns the language.
    static void *locale[2];
    use_kit_mode(false);
    create(locale);
    set(settings(), language(locale));
    use_kit_mode(true);
}
